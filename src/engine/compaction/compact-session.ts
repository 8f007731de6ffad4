// A compaction on request, between turns: first a preview, then the compaction itself.
import type { Boundary } from "../../core/compaction/plan/find-boundary.ts";
import type {
  CompactionNumbers,
  NoCompactionReason,
} from "../../core/compaction/plan/decide-compaction.ts";
import type { CompactionLimits } from "../../core/compaction/plan/compaction-limits.ts";
import {
  pricePrompt,
  type PromptPrice,
  type Weighing,
} from "../../core/compaction/plan/weigh-compaction.ts";
import type { Deps } from "../turn/deps.ts";
import {
  decideByHistory,
  limitsOf,
  type CompactionOccasion,
} from "../../core/turn/compaction/decide.ts";
import type {
  CompactionOutcome,
  CompactionRequest,
} from "../../core/turn/compaction/compacting.ts";
import { runCompaction, readInput } from "./run-compaction.ts";
import { countTurns, type CompactionInput } from "../../core/turn/compaction/compaction-input.ts";
import { prepareCall, type PreparedCall } from "../../core/turn/prepare-call.ts";
import type { Session } from "../../core/session/session.ts";
import { createTurnEmitter } from "../events/turn-emitter.ts";

export type CompactionPlan = {
  readonly input: CompactionInput;
  /** Turns of the conversation, without those that only record a compaction. */
  readonly turns: number;
  readonly limits: CompactionLimits;
  readonly numbers: CompactionNumbers;
} & (
  | {
      readonly kind: "compaction";
      readonly boundary: Boundary;
      readonly weighing: Weighing;
      /** Price of a call's prompt before and after; null if the model has no price. */
      readonly prices: { readonly before: PromptPrice; readonly after: PromptPrice } | null;
    }
  | { readonly kind: "nothing"; readonly why: NoCompactionReason }
);

/** Shows what a compaction would do now. Changes nothing and calls no model. */
export async function planCompaction(
  session: Session,
  deps: Pick<Deps, "ledger" | "now" | "compaction">,
  { mayAskModel = true }: Pick<CompactionRequest, "mayAskModel"> = {},
): Promise<CompactionPlan> {
  const nowMs = deps.now();
  const input = await readInput(session, null, 0, deps.ledger);
  const occasion: CompactionOccasion = {
    session,
    prepared: prepareNext(session, nowMs),
    nowMs,
    asked: "manual",
    mayAskModel,
    compaction: deps.compaction,
  };
  const decision = decideByHistory(occasion, input);
  const { numbers } = decision;
  const known = { input, turns: countTurns(input), limits: limitsOf(occasion), numbers };
  if (!decision.isDue) return { ...known, kind: "nothing", why: decision.reason };
  const { boundary, weighing } = decision;
  const before = pricePrompt(session.model, nowMs, weighing.tokensBefore);
  const after = pricePrompt(session.model, nowMs, weighing.tokensAfter);
  const prices = before === null || after === null ? null : { before, after };
  return { ...known, kind: "compaction", boundary, weighing, prices };
}

/** Compacts a session that runs no turn. `focus` is the subject of the summary. */
export async function compactSession(
  session: Session,
  { focus, mayAskModel }: Pick<CompactionRequest, "focus" | "mayAskModel">,
  deps: Deps,
): Promise<CompactionOutcome> {
  const about = { sessionId: session.id, turnId: null, chain: { current: null } };
  const nowMs = deps.now();
  const request = {
    session,
    lease: null,
    stagedCount: 0,
    prepared: prepareNext(session, nowMs),
    nowMs,
    asked: "manual" as const,
    ...(focus === undefined ? {} : { focus }),
    ...(mayAskModel === undefined ? {} : { mayAskModel }),
  };
  return runCompaction(request, deps, createTurnEmitter(deps.events, about));
}

/** The current prompt, without new messages. */
function prepareNext(session: Session, startMs: number): PreparedCall {
  return prepareCall({ session, current: [], volatile: session.lastVolatile, startMs });
}
