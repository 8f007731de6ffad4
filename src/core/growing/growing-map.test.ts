import * as fc from "fast-check";
import { expect, test } from "vitest";
import { growingMap } from "./growing-map.ts";

test("a later value of a key replaces the earlier one, and an earlier map keeps it", () => {
  const one = growingMap<string, number>().set("a", 1);
  const two = one.set("a", 2).set("b", 3);
  expect([one.get("a"), one.get("b"), two.get("a"), two.get("b")]).toEqual([1, undefined, 2, 3]);
});

test("two maps that go on from one do not see each other", () => {
  const begun = growingMap<string, number>().set("a", 1);
  const [left, right] = [begun.set("a", 2), begun.set("c", 3)];
  expect([left.get("a"), left.get("c")]).toEqual([2, undefined]);
  expect([right.get("a"), right.get("c")]).toEqual([1, 3]);
});

test("every map has what a copied Map would have, from wherever it went on", () => {
  const step = fc.tuple(fc.nat(), fc.nat(5), fc.nat());
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const maps = [{ grown: growingMap<number, number>(), copied: new Map<number, number>() }];
      for (const [from, key, value] of steps) {
        const { grown, copied } = maps[from % maps.length]!;
        maps.push({ grown: grown.set(key, value), copied: new Map(copied).set(key, value) });
      }
      for (const { grown, copied } of maps) {
        for (const key of [0, 1, 2, 3, 4, 5]) expect(grown.get(key)).toBe(copied.get(key));
      }
    }),
  );
});
