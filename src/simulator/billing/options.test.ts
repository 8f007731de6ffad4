import { expect, test } from "vitest";
import { parseBillingOptions } from "./options.ts";

test("options are read as a user writes them, and only those that are given", () => {
  const given = { clock: "response end", graceMs: 10_000, toolRuns: "every block" };
  expect(parseBillingOptions(given, "--billing")).toEqual(given);
});

test.each([
  [{ clok: "response end" }, 'unknown field "clok"'],
  [{ clock: "noon" }, "--billing.clock"],
  [{ graceMs: -1 }, "--billing.graceMs"],
  [{ retention: { seed: 3 } }, 'unknown field "retention"'],
  [7, "--billing"],
])("what is not an option is an error that names it: %j", (value, message) => {
  expect(() => parseBillingOptions(value, "--billing")).toThrow(message);
});
