// What takes the place of the folded part, by the cheapest rung of the ladder that frees enough.
import { randomUUID } from "node:crypto";
import type { CacheState } from "../../core/cache/cache-state.ts";
import type { ClearingPlan } from "../../core/compaction/plan/plan-clearing.ts";
import { decodeIndex } from "../../core/compaction/index/fold-index.ts";
import { countLead } from "../../core/compaction/plan/cut-places.ts";
import type { Edges } from "../edges.ts";
import { recordedTrigger } from "../../core/turn/compaction/compaction-events.ts";
import { makeNotes, type MadeNotes } from "./fold-notes.ts";
import type { FoldScene } from "../../core/turn/compaction/compaction-input.ts";
import type { LockedFold } from "./fold-session.ts";
import { answeredIn } from "../../core/turn/compaction/freed-skills.ts";
import { layForSession, type LaidFoundation } from "../../core/session/session-foundation.ts";
import type { Session } from "../../core/session/session.ts";
import { sumCalls } from "../../core/session/summary-bill.ts";
import type { SummaryCall } from "../../core/session/summary-bill.ts";
import type { Replacement } from "../../core/turn/compaction/write-fold.ts";

export type ReplacedHead = (
  | { readonly kind: "replaced"; readonly replacement: Replacement }
  | { readonly kind: "failed" }
) & {
  /** What went wrong on the way. */
  readonly reasons: readonly string[];
  readonly calls: readonly SummaryCall[];
  readonly cache: CacheState;
};

export async function replaceHead(
  locked: LockedFold,
  startMs: number,
  edges: Edges,
): Promise<ReplacedHead> {
  const { scene, due, request } = locked;
  const { session } = scene;
  const { boundary, clearing, mayAskModel, trigger } = due;
  if (clearing !== null) {
    const { laid, reasons } = await refresh(session, edges);
    const common = commonOf(locked, startMs, edges);
    const metadata = { ...common.metadata, by: "nobody", reasons };
    const replacement = { ...common, ...cleared(clearing, scene), laid, metadata };
    return { kind: "replaced", replacement, reasons, calls: [], cache: session.cache };
  }
  if (boundary === null) {
    return { kind: "failed", reasons: ["nothing can be folded"], calls: [], cache: session.cache };
  }
  const made = await makeNotes(
    scene,
    {
      boundary,
      mayAskModel,
      mustFold: trigger === "context_limit" || trigger === "overflow_recovery" || !mayAskModel,
      ...(request.focus === undefined ? {} : { focus: request.focus }),
    },
    edges,
  );
  if (made.kind === "failed") return made;
  const { notes, calls, cache, reasons } = made;
  const { laid, reasons: more } = await refresh(session, edges);
  const { costPicoUsd, inputTokens, outputTokens, callsWithoutCost } = sumCalls(calls);
  const common = commonOf(locked, startMs, edges);
  const isByModel = notes.by !== "nobody";
  const replacement: Replacement = {
    ...common,
    ...noted(notes, session, calls),
    history: scene.history,
    at: boundary.at,
    changedTo: boundary.at,
    resultsGone: answeredIn(scene.history.slice(0, boundary.at)),
    summaryState: isByModel ? "made" : mayAskModel ? "failed" : "none",
    laid,
    inputTokens,
    outputTokens,
    costPicoUsd,
    metadata: {
      ...common.metadata,
      by: notes.by,
      callsWithoutCost,
      reasons: [...reasons, ...more],
    },
  };
  return { kind: "replaced", replacement, reasons, calls, cache };
}

type Common = Pick<
  Replacement,
  "id" | "trigger" | "promptTokens" | "startMs" | "endMs" | "metadata"
>;

function commonOf({ due }: LockedFold, startMs: number, { now }: Edges): Common {
  const { trigger, targetTokens, weighing, numbers } = due;
  return {
    id: randomUUID(),
    trigger: recordedTrigger(trigger),
    promptTokens: numbers.usedTokens,
    startMs,
    endMs: now(),
    metadata: { trigger, targetTokens, numbers, weighing: spelled(weighing) },
  };
}

/** Money as text: JSON has no whole numbers of that size. */
function spelled(weighing: object): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(weighing).map(([name, value]: [string, unknown]) => [
      name,
      typeof value === "bigint" ? value.toString() : value,
    ]),
  );
}

type Content = Omit<Replacement, keyof Common | "laid">;

function cleared(
  { history, cleared: results, protectedFrom }: ClearingPlan,
  { session, lead }: FoldScene,
): Content {
  const { model } = session;
  const leadLength = countLead(history);
  const made = history.slice(0, leadLength);
  const bytes = results.reduce((sum, each) => sum + each.bytes, 0);
  return {
    kind: "selective",
    summary: `${results.length} old tool results were cleared, ${bytes} bytes.`,
    // The notes of an earlier fold stay where they are, and so does their index.
    lead: {
      notes: made.filter(({ foldPart }) => foldPart === "notes").map(({ message }) => message),
      requests: made.filter(({ foldPart }) => foldPart === "request").map(({ message }) => message),
    },
    history,
    at: leadLength,
    changedTo: Math.max(leadLength, protectedFrom),
    resultsGone: new Set(results.map(({ toolUseId }) => toolUseId)),
    by: "nobody",
    summaryState: "none",
    index: lead?.indexJson == null ? null : decodeIndex(lead.indexJson),
    model: model.id,
    provider: model.provider,
    inputTokens: 0,
    outputTokens: 0,
    costPicoUsd: 0n,
  };
}

type Noted = "kind" | "summary" | "lead" | "index" | "by" | "model" | "provider";

function noted(
  notes: MadeNotes,
  { model }: Session,
  calls: readonly SummaryCall[],
): Pick<Replacement, Noted> {
  const last = calls.at(-1);
  const isMade = notes.by !== "nobody" && last !== undefined;
  return {
    kind: notes.kind,
    summary: notes.text,
    lead: notes.lead,
    index: notes.index,
    by: notes.by,
    model: isMade ? last.model : model.id,
    provider: isMade ? last.provider : model.provider,
  };
}

interface Refreshed {
  /** Null where nothing changed, or nobody knows better. */
  readonly laid: LaidFoundation | null;
  readonly reasons: readonly string[];
}

/** What an application fails to make anew stays as it was: the fold itself matters more. */
async function refresh(session: Session, { compaction }: Edges): Promise<Refreshed> {
  try {
    const setup = (await compaction?.refresh?.()) ?? null;
    if (setup === null) return { laid: null, reasons: [] };
    const { foundation } = session.thread;
    const laid = layForSession(setup, foundation.counter, session.pace);
    return { laid: laid.foundation.key === foundation.key ? null : laid, reasons: [] };
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    return { laid: null, reasons: [`tools and system text could not be made again: ${said}`] };
  }
}
