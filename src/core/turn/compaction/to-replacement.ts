// The replacement of the compacted part, as the ledger records it.
import { decodeIndex } from "../../compaction/index/compaction-index.ts";
import { countHead } from "../../compaction/plan/cut-places.ts";
import { assert } from "../../assert.ts";
import type { CompactionPart } from "../../compaction/history.ts";
import type { Message } from "../../message/message.ts";
import { sumCalls } from "../../session/summary-bill.ts";
import type { Compacting, CompactionResult, LockedCompaction } from "./compacting.ts";
import { recordedTrigger } from "./compaction-events.ts";
import { answeredIn } from "./compaction-input.ts";
import type { MadeNotes } from "./make-notes.ts";
import type { Replacement } from "./write-compaction.ts";

type Renewed = Extract<CompactionResult, { readonly did: "renew foundation" }>;

/** Clears old tool results. Notes and index of an earlier compaction stay. */
export function clearedReplacement(locked: LockedCompaction, renewed: Renewed): Replacement {
  const { clearing, input } = locked;
  assert(clearing !== null, "old results are cleared");
  const { history, cleared: results, protectedFrom } = clearing;
  const { previous, session } = input;
  const headLength = countHead(history);
  const headOf = (part: CompactionPart): readonly Message[] =>
    history
      .slice(0, headLength)
      .filter(({ compactionPart }) => compactionPart === part)
      .map(({ message }) => message);
  const bytes = results.reduce((sum, each) => sum + each.bytes, 0);
  const common = commonOf(locked, renewed);
  return {
    ...common,
    kind: "selective",
    summary: `${results.length} old tool results were cleared, ${bytes} bytes.`,
    messages: { notes: headOf("notes"), requests: headOf("request") },
    history,
    at: headLength,
    changedTo: Math.max(headLength, protectedFrom),
    resultsGone: new Set(results.map(({ toolUseId }) => toolUseId)),
    by: "nobody",
    summaryState: "none",
    index: previous?.indexJson == null ? null : decodeIndex(previous.indexJson),
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
  { calls, reasons }: Pick<Compacting, "calls" | "reasons">,
  renewed: Renewed,
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
    messages: notes.messages,
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

function commonOf(
  { trigger, targetTokens, weighing, numbers, startMs }: LockedCompaction,
  { newFoundation, id, nowMs }: Renewed,
) {
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
