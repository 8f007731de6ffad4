import * as fc from "fast-check";
import { expect, test } from "vitest";
import { toDay } from "./moment.ts";

test("a moment in ISO form or in milliseconds falls on its UTC day", () => {
  expect(toDay("2026-11-15")).toBe("2026-11-15");
  expect(toDay("2026-11-15T23:59:59.999Z")).toBe("2026-11-15");
  expect(toDay(0)).toBe("1970-01-01");
  expect(toDay(-1)).toBe("1969-12-31");
  expect(toDay(1_709_164_800_000)).toBe("2024-02-29");
});

test.each(["yesterday", "2026-11-15T08:00:00+02:00", "15.11.2026", Number.NaN])(
  "%j is no moment",
  (at) => {
    expect(() => toDay(at)).toThrowError(/is no moment in UTC/);
  },
);

// Core may not use Date, so its calendar is ours; here it is compared with the platform's.
test("the calendar agrees with the platform's for every moment of 10,000 years", () => {
  fc.assert(
    fc.property(
      fc.date({ min: new Date(0), max: new Date("9999-12-31"), noInvalidDate: true }),
      (date) => {
        expect(toDay(date.getTime())).toBe(date.toISOString().slice(0, 10));
      },
    ),
    { numRuns: 2000 },
  );
});
