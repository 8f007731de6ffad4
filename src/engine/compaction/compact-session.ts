// A fold that somebody asks for, between turns: looked at first, then made.
import type { Boundary } from "../../core/compaction/plan/find-boundary.ts";
import type { FoldNumbers, NoFoldReason } from "../../core/compaction/plan/decide-fold.ts";
import type { FoldLimits } from "../../core/compaction/plan/fold-limits.ts";
import {
  pricePrompt,
  type PromptPrice,
  type Weighing,
} from "../../core/compaction/plan/weigh-fold.ts";
import type { Edges } from "../turn/edges.ts";
import { decideByHistory, limitsOf, type FoldOccasion } from "../../core/turn/compaction/decide.ts";
import type {
  CompactionOutcome,
  CompactionRequest,
} from "../../core/turn/compaction/compacting.ts";
import { runCompaction } from "./run-compaction.ts";
import { readInput } from "./read-input.ts";
import { countTurns, type CompactionInput } from "../../core/turn/compaction/compaction-input.ts";
import { prepareCall, type PreparedCall } from "../../core/turn/prepare-call.ts";
import type { Session } from "../../core/session/session.ts";
import { createTeller } from "../events/tell.ts";

export type CompactionPlan = {
  readonly scene: CompactionInput;
  /** Of the conversation, without those that only tell of a fold. */
  readonly turns: number;
  readonly limits: FoldLimits;
  readonly numbers: FoldNumbers;
} & (
  | {
      readonly kind: "fold";
      readonly boundary: Boundary;
      readonly weighing: Weighing;
      /** Of the prompt of a call before and after; null where the model has no price. */
      readonly prices: { readonly before: PromptPrice; readonly after: PromptPrice } | null;
    }
  | { readonly kind: "nothing"; readonly why: NoFoldReason }
);

/** What a fold would do now. Nothing is changed and no model is asked. */
export async function planCompaction(
  session: Session,
  edges: Pick<Edges, "ledger" | "now" | "compaction">,
  { mayAskModel = true }: Pick<CompactionRequest, "mayAskModel"> = {},
): Promise<CompactionPlan> {
  const nowMs = edges.now();
  const scene = await readInput(session, null, 0, edges.ledger);
  const occasion: FoldOccasion = {
    session,
    prepared: prepareNext(session, nowMs),
    nowMs,
    asked: "manual",
    mayAskModel,
    compaction: edges.compaction,
  };
  const decision = decideByHistory(occasion, scene);
  const { numbers } = decision;
  const known = { scene, turns: countTurns(scene), limits: limitsOf(occasion), numbers };
  if (!decision.fold) return { ...known, kind: "nothing", why: decision.reason };
  const { boundary, weighing } = decision;
  const before = pricePrompt(session.model, nowMs, weighing.tokensBefore);
  const after = pricePrompt(session.model, nowMs, weighing.tokensAfter);
  const prices = before === null || after === null ? null : { before, after };
  return { ...known, kind: "fold", boundary, weighing, prices };
}

/** Folds a session that no turn runs in. `focus` says what the summary should dwell on. */
export async function compactSession(
  session: Session,
  { focus, mayAskModel }: Pick<CompactionRequest, "focus" | "mayAskModel">,
  edges: Edges,
): Promise<CompactionOutcome> {
  const about = { sessionId: session.id, turnId: null, chain: { current: null } };
  const nowMs = edges.now();
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
  return runCompaction(request, edges, createTeller(edges.events, about));
}

/** The prompt as it stands, without anything new. */
function prepareNext(session: Session, startMs: number): PreparedCall {
  return prepareCall({ session, current: [], volatile: session.toldVolatile, startMs });
}
