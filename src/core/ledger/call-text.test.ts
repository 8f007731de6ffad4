import { expect, test } from "vitest";
import { fromOutcomeText, fromPlanText, toOutcomeText, type CallOutcome } from "./call-text.ts";

const outcome: CallOutcome = {
  discarded: [],
  failure: { kind: "timeout", detail: "no answer" },
  verdict: null,
  refuted: [],
  notes: [],
};

test("how often a call was tried is kept, and stays unknown where it was", () => {
  const tried = { ...outcome, attemptCount: 4 };
  expect(fromOutcomeText(toOutcomeText(tried))).toEqual(tried);
  expect(fromOutcomeText(toOutcomeText(outcome))).not.toHaveProperty("attemptCount");
});

test.each([
  '{"markers":[],"expected":{}}',
  '{"markers":[],"expected":null}',
  "[]",
  '{"markers":[],"expected":{"costPicoUsd":"x"}}',
])("a kept plan whose cost cannot be read says so: %s", (text) => {
  expect(() => fromPlanText(text)).toThrow("a kept plan has markers and an expectation");
});
