// Compacts a session that no process runs. The compaction is recorded in the ledger together with its events.
import type { PayloadOf } from "../../core/events/event.ts";
import { createEventBus, type EventBus } from "../../edge/events/event-bus.ts";
import type { Deps } from "../../engine.ts";
import { compactSession } from "../../engine/compaction/compact-session.ts";
import type {
  CompactionRequest,
  CompactionOutcome,
} from "../../core/turn/compaction/compacting.ts";
import { continueEvents, emitResumed } from "../../engine/events/session-events.ts";
import { createSpendingGuard, type SpendingOptions } from "../../engine/session/spending.ts";
import type { Session } from "../../core/session/session.ts";

export interface RecordedDeps extends Pick<Deps, "ledger" | "provider" | "compaction"> {
  /** The caps on what its summary may cost; none by default. */
  readonly spending?: SpendingOptions;
  /** An abort leaves the session as it was. */
  readonly signal: AbortSignal;
  /** Called with problems that do not end the compaction. */
  readonly onProblem: (problem: unknown) => void;
}

/** The event that says why a compaction did not happen. */
export type Hindrance =
  | PayloadOf<"compaction.skipped">["outcome"]
  | PayloadOf<"compaction.failed">["error_class"];

export interface RecordedRun {
  readonly run: CompactionOutcome;
  /** Null if the session was compacted. */
  readonly hindrance: Hindrance | null;
}

export async function compactRecorded(
  session: Session,
  wish: Pick<CompactionRequest, "focus" | "mayAskModel">,
  { onProblem, spending, ...deps }: RecordedDeps,
): Promise<RecordedRun> {
  const bus = createEventBus({
    store: deps.ledger,
    onProblem: (problem) =>
      onProblem(
        "error" in problem ? problem.error : `events about the compaction: ${problem.kind}`,
      ),
  });
  const readHindrance = watchHindrance(bus);
  try {
    const last = await continueEvents({ events: bus, ledger: deps.ledger }, session.id);
    emitResumed(bus, session, last);
    const run = await compactSession(session, wish, {
      ...deps,
      spending: createSpendingGuard(session, deps.ledger, () => (spending ? { spending } : {})),
      events: bus,
      runTools: () => Promise.resolve([]),
      now: Date.now,
    });
    return { run, hindrance: run.kind === "unchanged" ? readHindrance() : null };
  } finally {
    // The bus has already reported events that are not stored, and the compaction is done.
    await bus.close().catch(() => {});
  }
}

function watchHindrance(bus: EventBus): () => Hindrance | null {
  let last: Hindrance | null = null;
  bus.subscribe(
    ({ type, payload }) => {
      if (type === "compaction.skipped") last = payload.outcome;
      if (type === "compaction.failed") last = payload.error_class;
    },
    { types: ["compaction.skipped", "compaction.failed"] },
  );
  return () => last;
}
