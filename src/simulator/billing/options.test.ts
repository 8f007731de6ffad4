import { expect, test } from "vitest";
import { parseBillingOptions } from "./options.ts";

test("options are read as a user writes them, and only those that are given", () => {
  expect(
    parseBillingOptions(
      { clock: "response end", graceMs: 10_000, retention: { seed: 3 } },
      "--billing",
    ),
  ).toEqual({ clock: "response end", graceMs: 10_000, retention: { seed: 3 } });
  expect(parseBillingOptions({ retention: "minimum" }, "--billing")).toEqual({
    retention: "minimum",
  });
});

test.each([
  [{ clok: "response end" }, 'unknown field "clok"'],
  [{ clock: "noon" }, "--billing.clock"],
  [{ graceMs: -1 }, "--billing.graceMs"],
  [{ retention: { seed: "x" } }, "--billing.retention.seed"],
  [7, "--billing"],
])("what is not an option is an error that names it: %j", (value, message) => {
  expect(() => parseBillingOptions(value, "--billing")).toThrow(message);
});
