// The replacement of the compacted part, as the ledger records it.
import { decodeIndex } from "../../compaction/index/compaction-index.ts";
import { countHead } from "../../compaction/plan/cut-places.ts";
import { assert } from "../../assert.ts";
import type { SessionFoundation } from "../../session/session-foundation.ts";
import { sumCalls, type SummaryCall } from "../../session/summary-bill.ts";
import type { LockedCompaction } from "./compacting.ts";
import { recordedTrigger } from "./compaction-events.ts";
import { answeredIn } from "./compaction-input.ts";
import type { MadeNotes } from "./make-notes.ts";
import type { Replacement } from "./write-compaction.ts";

interface Renewed {
  readonly newFoundation: SessionFoundation | null;
  /** Why tools and system text could not be built again. */
  readonly reasons: readonly string[];
  readonly id: string;
  readonly nowMs: number;
}

/** Clears old tool results. Notes and index of an earlier compaction stay. */
export function clearedReplacement(locked: LockedCompaction, renewed: Renewed): Replacement {
  const { clearing, input } = locked;
  assert(clearing !== null, "old results are cleared");
  const { history, cleared: results, protectedFrom } = clearing;
  const { lead, session } = input;
  const headLength = countHead(history);
  const made = history.slice(0, headLength);
  const bytes = results.reduce((sum, each) => sum + each.bytes, 0);
  const common = commonOf(locked, renewed);
  return {
    ...common,
    kind: "selective",
    summary: `${results.length} old tool results were cleared, ${bytes} bytes.`,
    lead: {
      notes: made
        .filter(({ compactionPart }) => compactionPart === "notes")
        .map(({ message }) => message),
      requests: made
        .filter(({ compactionPart }) => compactionPart === "request")
        .map(({ message }) => message),
    },
    history,
    at: headLength,
    changedTo: Math.max(headLength, protectedFrom),
    resultsGone: new Set(results.map(({ toolUseId }) => toolUseId)),
    by: "nobody",
    summaryState: "none",
    index: lead?.indexJson == null ? null : decodeIndex(lead.indexJson),
    model: session.model.id,
    provider: session.model.provider,
    inputTokens: 0,
    outputTokens: 0,
    costPicoUsd: 0n,
    metadata: { ...common.metadata, by: "nobody", reasons: renewed.reasons },
  };
}

export function notedReplacement(
  locked: LockedCompaction,
  notes: MadeNotes,
  {
    calls,
    reasons,
    renewed,
  }: {
    readonly calls: readonly SummaryCall[];
    readonly reasons: readonly string[];
    readonly renewed: Renewed;
  },
): Replacement {
  const { input, boundary, mayAskModel } = locked;
  assert(boundary !== null, "notes stand for what is before a boundary");
  const { session, history } = input;
  const { costPicoUsd, inputTokens, outputTokens, callsWithoutCost } = sumCalls(calls);
  const common = commonOf(locked, renewed);
  const last = notes.by === "nobody" ? undefined : calls.at(-1);
  return {
    ...common,
    kind: notes.kind,
    summary: notes.text,
    lead: notes.lead,
    index: notes.index,
    by: notes.by,
    model: last?.model ?? session.model.id,
    provider: last?.provider ?? session.model.provider,
    history,
    at: boundary.at,
    changedTo: boundary.at,
    resultsGone: answeredIn(history.slice(0, boundary.at)),
    summaryState: notes.by !== "nobody" ? "made" : mayAskModel ? "failed" : "none",
    inputTokens,
    outputTokens,
    costPicoUsd,
    metadata: {
      ...common.metadata,
      by: notes.by,
      callsWithoutCost,
      reasons: [...reasons, ...renewed.reasons],
    },
  };
}

type Common =
  | "id"
  | "trigger"
  | "promptTokens"
  | "startMs"
  | "endMs"
  | "metadata"
  | "newFoundation";

function commonOf(
  { trigger, targetTokens, weighing, numbers, startMs }: LockedCompaction,
  { newFoundation, id, nowMs }: Renewed,
): Pick<Replacement, Common> {
  return {
    id,
    trigger: recordedTrigger(trigger),
    promptTokens: numbers.usedTokens,
    startMs,
    endMs: nowMs,
    metadata: { trigger, targetTokens, numbers, weighing: spelled(weighing) },
    newFoundation,
  };
}

/** Money as text: JSON numbers are not exact at that size. */
function spelled(weighing: object): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(weighing).map(([name, value]: [string, unknown]) => [
      name,
      typeof value === "bigint" ? value.toString() : value,
    ]),
  );
}
