import { expect, test } from "vitest";
import { fromOutcomeText, toOutcomeText, type CallOutcome } from "./call-text.ts";

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
