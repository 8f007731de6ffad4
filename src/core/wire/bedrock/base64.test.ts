import * as fc from "fast-check";
import { expect, test } from "vitest";
import { textInBase64, toBase64 } from "./base64.ts";

test("a text in any pieces is the text again", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 100 }), fc.nat(100), (text, cut) => {
      const bytes = new TextEncoder().encode(text);
      const base64 = toBase64([bytes.subarray(0, cut), bytes.subarray(cut)]);
      expect(base64).toBe(Buffer.from(bytes).toString("base64"));
      expect(textInBase64(base64)).toBe(Buffer.from(bytes).toString());
    }),
  );
});

test("a large text is written without a call of too many arguments", () => {
  expect(toBase64([new Uint8Array(1_000_000)])).toHaveLength(1_333_336);
});

test("what is no base64 is no text", () => {
  expect(textInBase64("%")).toBeUndefined();
});
