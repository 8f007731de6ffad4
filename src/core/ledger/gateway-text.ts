// The parts of a gateway call stored as JSON, beside what other calls have there. Money is text, and no text of a prompt is kept.
import { assert } from "../assert.ts";
import type { Explanation } from "../diagnosis/explanation.ts";
import { redact } from "../events/redact.ts";
import { fieldsOf, onlyPresent } from "../message/fields.ts";
import type { JsonText } from "../message/message.ts";
import { withMoneyAsText } from "../models/pico-usd.ts";
import type { ConversationMarker, GatewayCall } from "./gateway-call.ts";

/** What a client asked for, in the place of a plan. */
export function toMarkersText({ markers }: Pick<GatewayCall, "markers">): JsonText {
  return JSON.stringify({
    markers: markers.map(({ block, lifetime }) => ({ block, lifetime })),
  });
}

export function fromMarkersText(text: JsonText): readonly ConversationMarker[] {
  const value: unknown = JSON.parse(text);
  assert(isMarked(value), "a stored gateway call has its markers");
  return value.markers;
}

function isMarked(value: unknown): value is { readonly markers: readonly ConversationMarker[] } {
  return Array.isArray(fieldsOf(value)["markers"]);
}

type Outcome = Pick<
  GatewayCall,
  | "protocol"
  | "model"
  | "factsId"
  | "replyId"
  | "servedBy"
  | "serviceTier"
  | "isCostNamed"
  | "reportsCache"
  | "plainCostPicoUsd"
  | "explanation"
  | "tiers"
  | "otherPolicies"
  | "failure"
  | "notes"
  | "repairs"
  | "purpose"
  | "diagnosis"
>;

/** How the text of a call begins that only kept or wrote a cache. */
export const warmingText = '{"discarded":[],"purpose":';

/** The first fields are those of every call, in their order. */
export function toGatewayText(call: Outcome): JsonText {
  const { failure, servedBy, tiers, protocol, model, factsId, replyId, reportsCache } = call;
  const about = { protocol, model, factsId, replyId, reportsCache };
  return JSON.stringify({
    discarded: [],
    ...onlyPresent({ purpose: call.purpose }),
    ...(servedBy === null ? {} : { servedBy }),
    ...onlyPresent({ serviceTier: call.serviceTier, isCostNamed: call.isCostNamed }),
    tiers,
    failure: failure && { ...failure, detail: redact(failure.detail) },
    verdict: null,
    refuted: [],
    notes: call.notes.map((note) => ({ kind: "observed", detail: redact(note) })),
    gateway: {
      ...about,
      ...onlyPresent({ repairs: call.repairs, diagnosis: call.diagnosis }),
      plainCostPicoUsd: spelled(call.plainCostPicoUsd),
      explanation: call.explanation && withoutText(call.explanation),
      otherPolicies: call.otherPolicies.map(({ policy, costPicoUsd }) => ({
        policy,
        costPicoUsd: spelled(costPicoUsd),
      })),
    },
  });
}

function spelled(picoUsd: bigint | null): string | null {
  return picoUsd === null ? null : String(picoUsd);
}

/** Excerpts of the prompt are content. */
export function withoutText({ block, detail, lostPicoUsd, ...rest }: Explanation): KeptExplanation {
  return {
    ...rest,
    detail: detail && redact(detail),
    block: block && { ...block, before: null, after: null },
    lostPicoUsd: spelled(lostPicoUsd),
  };
}

type KeptExplanation = Omit<Explanation, "lostPicoUsd"> & { readonly lostPicoUsd: string | null };

interface KeptOutcome extends Pick<
  Outcome,
  "purpose" | "tiers" | "failure" | "serviceTier" | "isCostNamed"
> {
  readonly servedBy?: string;
  readonly notes: readonly { readonly detail: string }[];
  readonly gateway: Pick<
    Outcome,
    "protocol" | "model" | "factsId" | "replyId" | "reportsCache" | "repairs" | "diagnosis"
  > & {
    readonly plainCostPicoUsd: string | null;
    readonly explanation: KeptExplanation | null;
    readonly otherPolicies: readonly {
      readonly policy: Outcome["otherPolicies"][number]["policy"];
      readonly costPicoUsd: string;
    }[];
  };
}

export function fromGatewayText(text: JsonText): Outcome {
  const value: unknown = JSON.parse(text);
  assert(isKept(value), "a stored gateway call has its outcome");
  const { gateway, notes, purpose, tiers, failure, servedBy = null, serviceTier } = value;
  const { explanation, plainCostPicoUsd, otherPolicies, ...about } = gateway;
  return {
    ...about,
    servedBy,
    failure,
    ...onlyPresent({ purpose, tiers, serviceTier, isCostNamed: value.isCostNamed }),
    notes: notes.map(({ detail }) => detail),
    plainCostPicoUsd: plainCostPicoUsd === null ? null : BigInt(plainCostPicoUsd),
    explanation: explanation && {
      ...explanation,
      lostPicoUsd: explanation.lostPicoUsd === null ? null : BigInt(explanation.lostPicoUsd),
    },
    otherPolicies: otherPolicies.map(({ policy, costPicoUsd }) =>
      withMoneyAsText({ policy, costPicoUsd: BigInt(costPicoUsd) }),
    ),
  };
}

/** We wrote this ourselves, or an import brought it: detects mixed-up columns, and amounts that cannot be read. */
function isKept(value: unknown): value is KeptOutcome {
  const { notes, gateway } = fieldsOf(value);
  const { otherPolicies, plainCostPicoUsd, protocol } = fieldsOf(gateway);
  const isAmount = plainCostPicoUsd === null || typeof plainCostPicoUsd === "string";
  return (
    Array.isArray(notes) && Array.isArray(otherPolicies) && isAmount && typeof protocol === "string"
  );
}
