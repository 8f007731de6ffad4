// Runs the compaction of strata compact. Ctrl-C changes nothing; a compaction that did not happen is an error with a hint.
import { formatUsdRounded } from "../../core/models/pico-usd.ts";
import { StrataError } from "../../core/strata-error.ts";
import type {
  CompactionRequest,
  CompactionOutcome,
} from "../../core/turn/compaction/compacting.ts";
import type { Session } from "../../core/session/session.ts";
import { knownCost, sumCalls } from "../../core/session/summary-bill.ts";
import type { SummaryCall } from "../../core/session/summary-bill.ts";
import {
  compactRecorded,
  type Hindrance,
  type RecordedDeps,
} from "../../host/recorded/compact-recorded.ts";
import type { Io } from "../command.ts";
import type { ShownCompaction } from "./render-compacted.ts";
import { createOnProblem } from "../use-ledger.ts";

export async function compactWithProgress(
  session: Session,
  wish: Pick<CompactionRequest, "focus" | "mayAskModel">,
  deps: Omit<RecordedDeps, "signal" | "onProblem">,
  io: Io,
): Promise<ShownCompaction> {
  const stop = new AbortController();
  const onInterrupt = (): void => stop.abort();
  process.once("SIGINT", onInterrupt);
  try {
    const around = { signal: stop.signal, onProblem: createOnProblem(io) };
    const { run, hindrance } = await compactRecorded(session, wish, { ...deps, ...around });
    if (run.kind === "unchanged") throw notCompacted(session.id, run, hindrance);
    const { id, details } = run.compaction;
    const { firstKeptIndex = 0, indexJson = null, metadataJson = null } = details;
    return { ...details, turnId: id, firstKeptIndex, indexJson, metadataJson };
  } finally {
    process.off("SIGINT", onInterrupt);
  }
}

function notCompacted(
  id: string,
  { why, spent }: Extract<CompactionOutcome, { readonly kind: "unchanged" }>,
  hindrance: Hindrance | null,
): StrataError {
  const cost = describeSpent(spent);
  const message = `session ${id} was not compacted: ${why}${cost}`;
  if (hindrance === "lock_held" || hindrance === "lock_lost") {
    return new StrataError(
      "conflict",
      message,
      `strata sessions show ${id} lists its compactions; try again when no other process works on it`,
    );
  }
  return new StrataError(
    "environment-unfit",
    message,
    `its history is as it was; try again, or compact it without a model: strata compact ${id} --no-model`,
  );
}

function describeSpent(spent: readonly SummaryCall[]): string {
  const cost = knownCost(sumCalls(spent));
  if (cost === null)
    return "; the cost of the attempt is not known, because the model has no price";
  return cost === 0n ? "" : `; the attempt cost ${formatUsdRounded(cost)}`;
}
