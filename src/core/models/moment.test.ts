import * as fc from "fast-check";
import { expect, test } from "vitest";
import { toDay, toMs } from "./moment.ts";

test("a moment in ISO form or in milliseconds falls on its UTC day", () => {
  expect(toDay("2026-11-15")).toBe("2026-11-15");
  expect(toDay("2026-11-15T23:59:59.999Z")).toBe("2026-11-15");
  expect(toDay("2026-11-15T08:00")).toBe("2026-11-15");
  expect(toDay("2026-11-15T23:59:59.999999+00:00")).toBe("2026-11-15");
  expect(toDay("2024-02-29")).toBe("2024-02-29");
  expect(toDay(0)).toBe("1970-01-01");
  expect(toDay(-1)).toBe("1969-12-31");
  expect(toDay(1_709_164_800_000)).toBe("2024-02-29");
});

test.each([
  "yesterday",
  "15.11.2026",
  "2026-11-15 08:00:00",
  "2026-99-99",
  "2026-02-29",
  "2100-02-29",
  "2026-00-10",
  "2026-11-00",
  "2026-11-15T99:99",
  "2026-11-15T24:00:00Z",
  "2026-11-15T08:00:60Z",
  "2026-11-15T",
  Number.NaN,
  Infinity,
  1e300,
  253_402_300_800_000,
  -62_167_219_200_001,
])("%j is not a UTC time", (at) => {
  expect(() => toDay(at)).toThrowError(
    expect.objectContaining({
      code: "input-invalid",
      message: expect.stringContaining("is not a UTC time"),
    }),
  );
});

test.each(["2026-11-15T08:00:00+02:00", "2026-11-15T23:00:00-05:00", "2026-11-15T08:00:00+0100"])(
  "%j is refused for its offset, not taken as UTC",
  (at) => {
    expect(() => toDay(at)).toThrowError(/has the offset [+-]\d\d:?\d\d, but times must be in UTC/);
  },
);

test("the last times of the calendar still have a day", () => {
  expect(toDay(253_402_300_799_999)).toBe("9999-12-31");
  expect(toDay(-62_167_219_200_000)).toBe("0000-01-01");
});

// Core may not use Date, so it has its own calendar. This compares it with the platform's.
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

test.each([
  ["2026-11-18T12:00:00Z", Date.UTC(2026, 10, 18, 12)],
  ["2026-11-18T12:00:00.5Z", Date.UTC(2026, 10, 18, 12, 0, 0, 500)],
  ["2026-11-18T12:00:00.123456789Z", Date.UTC(2026, 10, 18, 12, 0, 0, 123)],
  ["2028-02-29", Date.UTC(2028, 1, 29)],
  ["2027-02-29", null],
  ["2026-11-18T24:00:00Z", null],
  ["2026-11-18T12:00:00+01:00", null],
  ["soon", null],
])("%s is %s ms since 1970", (text, ms) => {
  expect(toMs(text)).toBe(ms);
});
