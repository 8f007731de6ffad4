import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isUlid } from "../message/validate-message.ts";
import { createEventIds } from "./event-ids.ts";

const zeros = new Uint8Array(10);
const ones = new Uint8Array(10).fill(255);

describe("an id", () => {
  test("is 48 bits of time and 80 at random, in Crockford's base 32", () => {
    expect(createEventIds().next(1_469_918_176_385, zeros)).toBe("01ARYZ6S410000000000000000");
    expect(createEventIds().next(0, ones)).toBe("0000000000ZZZZZZZZZZZZZZZZ");
    expect(createEventIds().next(2 ** 48 - 1, ones)).toBe("7ZZZZZZZZZZZZZZZZZZZZZZZZZ");
    const bytes = Uint8Array.from([0, 0, 0, 0, 1, 0, 0, 0, 0, 2]);
    expect(createEventIds().next(1, bytes)).toBe("00000000010000000100000002");
  });

  test.each([
    ["01ARYZ6S410000000000000000", true],
    ["81ARYZ6S410000000000000000", false],
    ["01ARYZ6S41000000000000000U", false],
    ["01aryz6s410000000000000000", false],
    ["01ARYZ6S41", false],
    ["", false],
  ])("%j is a ULID: %s", (text, expected) => {
    expect(isUlid(text)).toBe(expected);
  });
});

describe("the next id", () => {
  test("within a millisecond is a random amount greater, never the same", () => {
    const ids = createEventIds();
    expect(ids.next(5, zeros)).toBe("00000000050000000000000000");
    expect(ids.next(5, zeros)).toBe("00000000050000000000000001");
    const step = Uint8Array.from([9, 9, 9, 9, 9, 0, 0, 0, 0, 3]);
    expect(ids.next(5, step)).toBe("00000000050000000000000005");
    expect(ids.last()).toBe("00000000050000000000000005");
  });

  test("is greater when the clock goes back, or says nothing sensible", () => {
    const ids = createEventIds();
    ids.next(1000, zeros);
    expect(ids.next(999, zeros)).toBe("00000000Z80000000000000001");
    expect(ids.next(Number.NaN, zeros)).toBe("00000000Z80000000000000002");
    expect(ids.next(-5, zeros)).toBe("00000000Z80000000000000003");
    expect(ids.next(1000.9, zeros)).toBe("00000000Z80000000000000004");
    expect(ids.next(1001.2, zeros)).toBe("00000000Z90000000000000000");
  });

  test("is greater than what another node made, and not what that node makes next", () => {
    const after = "01ARYZ6S410000000000000000";
    const here = createEventIds({ after }).next(0, Uint8Array.from([0, 0, 0, 0, 0, 1, 2, 3, 4, 5]));
    const there = createEventIds({ after }).next(
      0,
      Uint8Array.from([0, 0, 0, 0, 0, 5, 4, 3, 2, 1]),
    );
    expect(here > after && there > after && here !== there).toBe(true);
    const ids = createEventIds();
    ids.next(7, zeros);
    expect(ids.next(7, zeros, after)).toBe("01ARYZ6S410000000000000001");
    expect(ids.next(7, zeros, "00000000000000000000000000")).toBe("01ARYZ6S410000000000000002");
  });

  test("carries over from the second to the first random half, and from there to the time", () => {
    expect(createEventIds({ after: "000000000100000000ZZZZZZZZ" }).next(0, zeros)).toBe(
      "00000000010000000100000000",
    );
    expect(createEventIds({ after: "0000000001ZZZZZZZZZZZZZZZZ" }).next(0, zeros)).toBe(
      "00000000020000000000000000",
    );
  });

  test("does not exist after the last of all; the last one stays what it was", () => {
    const ids = createEventIds({ after: "7ZZZZZZZZZZZZZZZZZZZZZZZZZ" });
    expect(() => ids.next(0, zeros)).toThrow("no event id can follow 7ZZZZZZZZZZZZZZZZZZZZZZZZZ");
    expect(ids.last()).toBe("7ZZZZZZZZZZZZZZZZZZZZZZZZZ");
  });

  test("cannot come after something that is no id", () => {
    expect(() => createEventIds({ after: "turn-1" })).toThrow('"turn-1" is not a ULID');
  });

  test("is a ULID greater than all before it, for any clock and any bytes", () => {
    const bytes = fc.uint8Array({ minLength: 10, maxLength: 10 });
    const edge = fc.constantFrom(zeros, ones);
    const ms = fc.oneof(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: 2 ** 47 }));
    fc.assert(
      fc.property(fc.array(fc.tuple(ms, fc.oneof(bytes, edge)), { maxLength: 200 }), (steps) => {
        const ids = createEventIds();
        const made = steps.map(([clockMs, random]) => ids.next(clockMs, random));
        expect(made.every(isUlid)).toBe(true);
        expect(made.every((id, index) => index === 0 || id > (made[index - 1] ?? ""))).toBe(true);
      }),
    );
  });
});
