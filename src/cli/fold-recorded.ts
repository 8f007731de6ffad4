// A fold of a session that nobody runs, recorded with its events; what came to nothing is an error with what to do.
import type { PayloadOf } from "../core/events/event.ts";
import { formatUsdRounded } from "../core/models/pico-usd.ts";
import { StrataError } from "../core/strata-error.ts";
import { createEventBus, type EventBus } from "../edge/events/event-bus.ts";
import type { BusProblem } from "../edge/events/problem.ts";
import type { Edges } from "../engine.ts";
import { compactSession } from "../engine/compaction/compact-session.ts";
import type { CompactionRequest, CompactionOutcome } from "../core/turn/compaction/compacting.ts";
import type { Session } from "../core/session/session.ts";
import { knownCost, sumCalls } from "../core/session/summary-bill.ts";
import type { SummaryCall } from "../core/session/summary-bill.ts";
import type { Io } from "./command.ts";
import type { ShownFold } from "./render-fold.ts";
import { createOnProblem } from "./use-ledger.ts";

/** Whoever interrupts it once leaves everything as it was. */
export async function foldRecorded(
  session: Session,
  wish: Pick<CompactionRequest, "focus" | "mayAskModel">,
  edges: Pick<Edges, "ledger" | "provider" | "compaction">,
  io: Io,
): Promise<ShownFold> {
  const bus = createEventBus({ store: edges.ledger, onProblem: createOnBusProblem(io) });
  const readOutcome = watchOutcome(bus);
  const stop = new AbortController();
  const onInterrupt = (): void => stop.abort();
  process.once("SIGINT", onInterrupt);
  try {
    const done = await compactSession(session, wish, {
      ...edges,
      events: bus,
      runTools: () => Promise.resolve([]),
      now: Date.now,
      signal: stop.signal,
    });
    if (done.kind === "unchanged") throw notFolded(session.id, done, readOutcome());
    const { id, details } = done.fold;
    const { firstKeptIndex = 0, indexJson = null, metadataJson = null } = details;
    return { ...details, turnId: id, firstKeptIndex, indexJson, metadataJson };
  } finally {
    process.off("SIGINT", onInterrupt);
    // What is not stored was told by then, and the fold stands.
    await bus.close().catch(() => {});
  }
}

type Outcome =
  | PayloadOf<"compaction.skipped">["outcome"]
  | PayloadOf<"compaction.failed">["error_class"];

/** Why nothing came of it, from the event that tells so. */
function watchOutcome(bus: EventBus): () => Outcome | null {
  let last: Outcome | null = null;
  bus.subscribe(
    ({ type, payload }) => {
      if (type === "compaction.skipped") last = payload.outcome;
      if (type === "compaction.failed") last = payload.error_class;
    },
    { types: ["compaction.skipped", "compaction.failed"] },
  );
  return () => last;
}

function notFolded(
  id: string,
  { why, spent }: Extract<CompactionOutcome, { readonly kind: "unchanged" }>,
  outcome: Outcome | null,
): StrataError {
  const cost = describeSpent(spent);
  const message = `session ${id} was not folded: ${why}${cost}`;
  if (outcome === "lock_held" || outcome === "lock_lost") {
    return new StrataError(
      "conflict",
      message,
      `strata sessions show ${id} lists its folds; try again when nobody else works on it`,
    );
  }
  return new StrataError(
    "environment-unfit",
    message,
    `its history is as it was; try again, or fold it without a model: strata compact ${id} --no-model`,
  );
}

function describeSpent(spent: readonly SummaryCall[]): string {
  const cost = knownCost(sumCalls(spent));
  if (cost === null) return "; what the attempt cost is not known, the model has no price";
  return cost === 0n ? "" : `; the attempt cost ${formatUsdRounded(cost)}`;
}

function createOnBusProblem(io: Io): (problem: BusProblem) => void {
  const tell = createOnProblem(io);
  return (problem) => {
    tell("error" in problem ? problem.error : `events about the fold: ${problem.kind}`);
  };
}
