// A fold that somebody asks for, between turns: looked at first, then made.
import type { Boundary } from "../core/compaction/plan/find-boundary.ts";
import type { NoFoldReason } from "../core/compaction/plan/decide-fold.ts";
import type { Weighing } from "../core/compaction/plan/weigh-fold.ts";
import type { Edges } from "../engine.ts";
import { decideByHistory, type FoldOccasion } from "./decide.ts";
import { foldWhereDue, type FoldRequest, type FoldRun } from "./fold-session.ts";
import { countTurns, readScene, type FoldScene } from "./fold-scene.ts";
import { prepareCall, type PreparedCall } from "./prepare-call.ts";
import type { Session } from "./session.ts";
import { createTeller } from "./tell.ts";

export type CompactionPlan =
  | {
      readonly kind: "fold";
      readonly scene: FoldScene;
      readonly boundary: Boundary;
      readonly weighing: Weighing;
      readonly turns: number;
    }
  | { readonly kind: "nothing"; readonly scene: FoldScene; readonly why: NoFoldReason };

/** What a fold would do now. Nothing is changed and no model is asked. */
export async function planCompaction(
  session: Session,
  edges: Pick<Edges, "ledger" | "now" | "compaction">,
): Promise<CompactionPlan> {
  const nowMs = edges.now();
  const scene = await readScene(session, null, 0, edges.ledger);
  const occasion: FoldOccasion = {
    session,
    prepared: prepareNext(session, nowMs),
    nowMs,
    asked: "manual",
    compaction: edges.compaction,
  };
  const decision = decideByHistory(occasion, scene);
  if (!decision.fold) return { kind: "nothing", scene, why: decision.reason };
  const { boundary, weighing } = decision;
  return { kind: "fold", scene, boundary, weighing, turns: countTurns(scene) };
}

/** Folds a session that no turn runs in. `focus` says what the summary should dwell on. */
export async function compactSession(
  session: Session,
  { focus, mayAskModel }: Pick<FoldRequest, "focus" | "mayAskModel">,
  edges: Edges,
): Promise<FoldRun> {
  const about = { sessionId: session.id, turnId: null, chain: { current: null } };
  const nowMs = edges.now();
  const request = {
    session,
    open: null,
    stagedCount: 0,
    prepared: prepareNext(session, nowMs),
    nowMs,
    asked: "manual" as const,
    ...(focus === undefined ? {} : { focus }),
    ...(mayAskModel === undefined ? {} : { mayAskModel }),
  };
  return foldWhereDue(request, edges, createTeller(edges.events, about));
}

/** The prompt as it stands, without anything new. */
function prepareNext(session: Session, startMs: number): PreparedCall {
  return prepareCall({ session, current: [], volatile: null, startMs });
}
