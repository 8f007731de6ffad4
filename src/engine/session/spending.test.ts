import { expect, test } from "vitest";
import { dayStartMs } from "./spending.ts";

test.each([
  ["2026-11-18T10:15:30.250Z", undefined, "2026-11-18T00:00:00.000Z"],
  ["2026-11-18T00:00:00.000Z", undefined, "2026-11-18T00:00:00.000Z"],
  ["2026-11-18T10:15:30.250Z", "Europe/Berlin", "2026-11-17T23:00:00.000Z"],
  ["2026-11-18T18:31:00.000Z", "Asia/Kolkata", "2026-11-18T18:30:00.000Z"],
  ["2026-11-18T18:29:00.000Z", "Asia/Kolkata", "2026-11-17T18:30:00.000Z"],
  // The clocks went back at 01:00 UTC, and forward in spring.
  ["2026-10-25T12:00:00.000Z", "Europe/Berlin", "2026-10-24T22:00:00.000Z"],
  ["2026-03-29T12:00:00.000Z", "Europe/Berlin", "2026-03-28T23:00:00.000Z"],
])("the day of %s in %s began at %s", (at, timezone, began) => {
  const start = dayStartMs(Date.parse(at), timezone === undefined ? {} : { timezone });
  expect(new Date(start).toISOString()).toBe(began);
});
