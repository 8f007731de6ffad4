import * as fc from "fast-check";
import { expect, test } from "vitest";
import { countBytes } from "../layers/cut-middle.ts";
import { cutOutput, type LeftOut } from "./cut-output.ts";

function describeLines({ bytesLeftOut, bytesOfAll, fromLine, toLine }: LeftOut): string {
  return `${bytesLeftOut} of ${bytesOfAll}, ${fromLine}-${toLine}`;
}

test("an output within the limit stays as it is", () => {
  expect(cutOutput("hello", 5, describeLines)).toEqual({ text: "hello", bytesLeftOut: 0 });
});

test("of a longer one the beginning and the end stay, and the line says what is missing", () => {
  const text = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n";
  expect(cutOutput(text, 9, describeLines)).toEqual({
    text: "1\n2\n3\n4\n\n[12 of 21, 4-10]\n\n0\n",
    bytesLeftOut: 12,
  });
});

test("characters stay whole, and beginning, middle and end make the whole", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: "grapheme", maxLength: 200 }),
      fc.integer({ min: 9, max: 90 }),
      (text, max) => {
        let left = 0;
        const cut = cutOutput(text, max, ({ bytesLeftOut }) => {
          left = bytesLeftOut;
          return "|";
        });
        const kept = left === 0 ? cut.text : cut.text.replace("\n\n[|]\n\n", "");
        expect(kept.isWellFormed() && !kept.includes("\ufffd")).toBe(!text.includes("\ufffd"));
        expect(countBytes(kept)).toBe(countBytes(text) - left);
        expect(countBytes(kept)).toBeLessThanOrEqual(max);
        expect(cut.bytesLeftOut).toBe(left);
      },
    ),
  );
});
