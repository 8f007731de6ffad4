// The replacement of the compacted part, as the ledger records it.
import { encodeIndex } from "../../compaction/index/compaction-index.ts";
import { countHead } from "../../compaction/plan/cut-places.ts";
import { assert } from "../../assert.ts";
import type { CompactionPart } from "../../compaction/history.ts";
import type { ClearingPlan } from "../../compaction/plan/plan-clearing.ts";
import type { Message } from "../../message/message.ts";
import { sumCalls } from "../../session/summary-bill.ts";
import type { Compacting, CompactionResult, DueCompaction } from "./compacting.ts";
import { recordedTrigger } from "./compaction-events.ts";
import { answeredIn } from "./compaction-input.ts";
import { limitsOf } from "./decide.ts";
import type { MadeNotes } from "./make-notes.ts";
import type { Replacement } from "./write-compaction.ts";

type Renewed = Extract<CompactionResult, { readonly did: "renew foundation" }>;

/** Without notes, old tool results are cleared. */
export function toReplacement(
  due: DueCompaction,
  notes: MadeNotes | null,
  { calls, reasons: met, request }: Pick<Compacting, "calls" | "reasons" | "request">,
  { newFoundation, id, nowMs, reasons }: Renewed,
): Replacement {
  const { trigger, targetTokens, weighing, numbers, startMs, input } = due;
  const { inputTokens, outputTokens, costPicoUsd, callsWithoutCost } = sumCalls(calls);
  const { model } = input.session;
  const last = notes === null || notes.by === "nobody" ? undefined : calls.at(-1);
  const { tailNotice } = limitsOf(request);
  const { details, ...made } = notes === null ? clearResults(due) : placeNotes(due, notes);
  return {
    ...made,
    id,
    newFoundation,
    details: {
      ...details,
      trigger: recordedTrigger(trigger),
      model: last?.model ?? model.id,
      provider: last?.provider ?? model.provider,
      inputTokens,
      outputTokens,
      costPicoUsd,
      tokensBefore: numbers.usedTokens,
      compactedMs: nowMs,
      durationMs: nowMs - startMs,
    },
    metadata: {
      trigger,
      targetTokens,
      numbers,
      weighing: spelled(weighing),
      by: made.by,
      ...(notes === null ? {} : { callsWithoutCost }),
      reasons: [...met, ...reasons, ...(tailNotice === null ? [] : [tailNotice])],
    },
  };
}

type Made = Omit<Replacement, "id" | "newFoundation" | "metadata" | "details"> & {
  readonly details: Pick<Replacement["details"], "kind" | "summary" | "indexJson">;
};

/** Notes and index of an earlier compaction stay. */
function clearResults({ clearing, input }: DueCompaction): Made {
  assert(clearing !== null, "old results are cleared");
  const { history, cleared: results, protectedFrom } = clearing;
  const at = countHead(history);
  const bytes = results.reduce((sum, each) => sum + each.bytes, 0);
  return {
    details: {
      kind: "selective",
      summary: `${results.length} old tool results were cleared, ${bytes} bytes.`,
      indexJson: input.previous?.indexJson ?? null,
    },
    messages: {
      notes: headOf(clearing, at, "notes"),
      requests: headOf(clearing, at, "request"),
    },
    history,
    at,
    changedTo: Math.max(at, protectedFrom),
    resultsGone: new Set(results.map(({ toolUseId }) => toolUseId)),
    by: "nobody",
    summaryState: "none",
  };
}

function headOf({ history }: ClearingPlan, to: number, part: CompactionPart): readonly Message[] {
  const head = history.slice(0, to).filter(({ compactionPart }) => compactionPart === part);
  return head.map(({ message }) => message);
}

function placeNotes({ input, boundary, mayAskModel }: DueCompaction, notes: MadeNotes): Made {
  assert(boundary !== null, "notes stand for what is before a boundary");
  const { history } = input;
  const { at } = boundary;
  const { kind, text: summary, messages, by } = notes;
  return {
    details: { kind, summary, indexJson: encodeIndex(notes.index) },
    messages,
    history,
    at,
    changedTo: at,
    resultsGone: answeredIn(history.slice(0, at)),
    by,
    summaryState: by !== "nobody" ? "made" : mayAskModel ? "failed" : "none",
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
