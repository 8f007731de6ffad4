// The parts of a call stored as JSON. Money is text, because JSON numbers are exact only to 2^53.
import { assert } from "../assert.ts";
import type { CachePlan } from "../cache/cache-plan.ts";
import { withMoneyAsText } from "../models/pico-usd.ts";
import { fieldsOf } from "../message/fields.ts";
import type { JsonText } from "../message/message.ts";
import type { CallRecord } from "./call-entry.ts";

export type CallOutcome = Pick<
  CallRecord,
  | "discarded"
  | "attemptCount"
  | "servedBy"
  | "prefillMs"
  | "serviceTier"
  | "isCostNamed"
  | "tiers"
  | "diagnosis"
  | "failure"
  | "verdict"
  | "refuted"
  | "notes"
>;

export function toPlanText({ expected, ...plan }: CachePlan): JsonText {
  const costPicoUsd = expected.costPicoUsd === null ? null : String(expected.costPicoUsd);
  return JSON.stringify({ ...plan, expected: { ...expected, costPicoUsd } });
}

export function fromPlanText(text: JsonText): CachePlan {
  const value: unknown = JSON.parse(text);
  assert(isKeptPlan(value), "a kept plan has markers and an expectation");
  const { costPicoUsd: cost } = value.expected;
  const costPicoUsd = cost === null ? null : BigInt(cost);
  return { ...value, expected: withMoneyAsText({ ...value.expected, costPicoUsd }) };
}

export function toOutcomeText(
  call: CallOutcome,
  { withTiers }: { readonly withTiers: boolean } = { withTiers: true },
): JsonText {
  return JSON.stringify({
    discarded: call.discarded,
    attemptCount: call.attemptCount,
    servedBy: call.servedBy,
    prefillMs: call.prefillMs,
    serviceTier: call.serviceTier,
    isCostNamed: call.isCostNamed,
    tiers: withTiers ? call.tiers : undefined,
    diagnosis: call.diagnosis,
    failure: call.failure,
    verdict: call.verdict,
    refuted: call.refuted,
    notes: call.notes,
  });
}

export function fromOutcomeText(text: JsonText): CallOutcome {
  const value: unknown = JSON.parse(text);
  assert(isOutcome(value), "a kept outcome has its lists");
  return value;
}

type KeptPlan = Omit<CachePlan, "expected"> & {
  readonly expected: Omit<CachePlan["expected"], "costPicoUsd"> & {
    readonly costPicoUsd: string | null;
  };
};

/** We wrote this ourselves, or an import brought it: detects mixed-up columns, and a cost that cannot be read. */
function isKeptPlan(value: unknown): value is KeptPlan {
  const { markers, expected } = fieldsOf(value);
  const cost = fieldsOf(expected)["costPicoUsd"];
  const isCost = cost === null || (typeof cost === "string" && /^-?\d+$/.test(cost));
  return markers !== undefined && isCost;
}

function isOutcome(value: unknown): value is CallOutcome {
  return typeof value === "object" && value !== null && "discarded" in value && "notes" in value;
}
