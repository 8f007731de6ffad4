import * as fc from "fast-check";
import { expect, test } from "vitest";
import { growingBytes, type GrowingBytes } from "./growing-bytes.ts";

function textOf(bytes: GrowingBytes): string {
  return new TextDecoder().decode(bytes.slice(0, bytes.length));
}

test("bytes that grow twice from one place do not disturb each other", () => {
  const start = growingBytes("start");
  const left = start.append(" left");
  const right = start.append(" on the right");
  expect([textOf(start), textOf(left), textOf(right)]).toEqual([
    "start",
    "start left",
    "start on the right",
  ]);
  expect(textOf(left.append("!"))).toBe("start left!");
  expect(textOf(left)).toBe("start left");
});

test("length counts UTF-8 bytes", () => {
  expect(growingBytes("aé日😀").length).toBe(10);
  expect(growingBytes("aé").append("日😀").length).toBe(10);
  expect(growingBytes("é").slice(0, 2)).toEqual(Uint8Array.of(0xc3, 0xa9));
});

test("a slice is the bytes themselves: those of the earlier value and of the later one are one memory", () => {
  const start = growingBytes("abc");
  const grown = start.append("def");
  const [before, after] = [start.slice(0, 3), grown.slice(0, 3)];
  expect(after.buffer).toBe(before.buffer);
  expect(after.byteOffset).toBe(before.byteOffset);
});

test("an earlier value cannot see what came after its end", () => {
  const start = growingBytes("abc");
  start.append("def");
  expect(start.slice(1, 100)).toEqual(Uint8Array.of(98, 99));
  expect(start.slice(3, 100)).toHaveLength(0);
});

test("a slice taken before the room was used up keeps its bytes", () => {
  const start = growingBytes("first");
  const taken = start.slice(0, 5);
  const grown = start.append("x".repeat(5000)).append("y".repeat(50_000));
  expect(new TextDecoder().decode(taken)).toBe("first");
  expect(grown.length).toBe(55_005);
  expect(textOf(grown)).toBe(`first${"x".repeat(5000)}${"y".repeat(50_000)}`);
});

test("appending nothing leaves the place free for whoever comes first, and the other gets its own", () => {
  const start = growingBytes("a");
  const same = start.append("");
  const first = start.append("b");
  const second = same.append("c");
  expect([textOf(first), textOf(second), textOf(same)]).toEqual(["ab", "ac", "a"]);
});

test("any tree of appends holds in every node what was appended on its way (C-1)", () => {
  const step = fc.record({ from: fc.nat(), text: fc.string({ unit: "grapheme", maxLength: 700 }) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      const nodes = [{ bytes: growingBytes(), text: "" }];
      for (const { from, text } of steps) {
        const parent = nodes[from % nodes.length] ?? { bytes: growingBytes(), text: "" };
        nodes.push({ bytes: parent.bytes.append(text), text: parent.text + text });
      }
      for (const { bytes, text } of nodes) expect(textOf(bytes)).toBe(text);
    }),
    { numRuns: 50 },
  );
});
