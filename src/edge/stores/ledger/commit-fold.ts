// Appending a fold: between turns, or before a turn that runs.
import type { StrataEvent } from "../../../core/events/event.ts";
import type { NewFold } from "../../../core/ledger/fold-record.ts";
import type { FoldLock } from "../../../core/ledger/ledger.ts";
import type { JsonText } from "../../../core/message/message.ts";
import { StrataError } from "../../../core/strata-error.ts";
import type { Guard, Statement } from "../sql/database.ts";
import { storable, storableJson } from "../sql/storable.ts";
import { integer } from "../sql/read-row.ts";
import { eventWrites } from "./event-rows.ts";
import { needSession } from "./session-rows.ts";
import { commitOnce, commitSharing, conflict, mayRepeat, seqStep, type Store } from "./store.ts";
import { leaseGuard, type HeldTurn, type Step } from "./held-turn.ts";
import { checkKept } from "./check-kept.ts";
import { foldWrites } from "./fold-rows.ts";
import { latestFold } from "./thread-path.ts";

/** The lock of whoever folds. */
export type HeldLock = Pick<FoldLock, "sessionId" | "holder" | "token">;

/** A fold between turns: the session points at it. */
export async function commitFold(
  store: Store,
  lock: HeldLock,
  fold: NewFold,
  events: readonly StrataEvent[],
): Promise<void> {
  const known = await needSession(store, fold.sessionId);
  await checkKept(store, fold, null);
  const { branchId, nextSeq, moveCount } = known;
  const place = { branchId, seq: nextSeq };
  const before = await latestFold(store, fold.parentTurnId);
  const result = await commitSharing(store, {
    guards: [
      lockGuard(lock, fold),
      {
        name: "session",
        sql: "UPDATE sessions SET head_turn_id = ?, next_seq = ?, move_count = move_count + 1, cost_pico_usd = cost_pico_usd + ?, state_json = COALESCE(?, state_json), updated_ms = ? WHERE id = ? AND status = 'active' AND open_turn_id IS NULL AND head_turn_id = ? AND next_seq = ? AND move_count = ?",
        values: [
          fold.id,
          nextSeq + seqStep,
          fold.details.costPicoUsd,
          storableJson(fold.stateJson),
          store.now(),
          fold.sessionId,
          fold.parentTurnId,
          nextSeq,
          moveCount,
        ],
      },
    ],
    writes: [...foldWrites(fold, { place, move: moveCount + 1, before }), ...eventWrites(events)],
    landed: landedFold(fold),
    advanced: [fold.sessionId],
  });
  if (result.kind === "done") return;
  throw foldRefused(fold, result.kind === "refused" ? result.guard : result.table);
}

/** Nothing of the thread changes; what was learned is kept. */
export async function giveUpFold(store: Store, lock: HeldLock, stateJson: JsonText): Promise<void> {
  const { sessionId } = lock;
  const result = await commitOnce(store, {
    guards: [
      lockGuard(lock, { sessionId }),
      {
        name: "session",
        sql: "UPDATE sessions SET state_json = ?, updated_ms = ? WHERE id = ? AND open_turn_id IS NULL",
        values: [storableJson(stateJson), store.now(), sessionId],
      },
    ],
    writes: [],
    landed: mayRepeat,
  });
  if (result.kind === "done") return;
  throw conflict(
    `the lock on compacting session ${sessionId} was lost, or a turn runs in it`,
    "read the session again",
  );
}

/** Tells whether this very fold is recorded. */
export function landedFold({ id, sessionId, details }: NewFold): Statement {
  return {
    sql: "SELECT 1 AS landed FROM compactions_v1 WHERE turn_id = ? AND session_id = ? AND compacted_at = ? AND summary = ? AND summarized_through_turn_id = ? AND first_kept_turn_id IS NOT DISTINCT FROM ? AND first_kept_index = ?",
    values: [
      id,
      sessionId,
      details.compactedMs,
      storable(details.summary),
      details.summarizedThroughTurnId,
      details.firstKeptTurnId,
      details.firstKeptIndex ?? 0,
    ],
  };
}

function foldRefused({ id, sessionId, parentTurnId }: NewFold, why: string): Error {
  switch (why) {
    case "lock":
      return conflict(
        `the lock on compacting session ${sessionId} was lost`,
        "compact again later",
      );
    case "turns":
    case "compactions_v1":
      return conflict(`turn ${id} is in the ledger already`, "give every fold an id of its own");
    case "events":
      return conflict(
        `an event told with fold ${id} has an id that is in the ledger already`,
        "make ids that grow from the last one of the session; nothing was folded",
      );
    default:
      return conflict(
        `session ${sessionId} does not point at turn ${parentTurnId ?? "none"} any more, a turn runs in it, or it is archived`,
        "read the session again and fold what it has now",
      );
  }
}

/** A fold while a turn runs: it goes before that turn, which then follows it. */
export async function foldInTurn(
  store: Store,
  held: HeldTurn,
  fold: NewFold,
  lock: FoldLock,
  events: readonly StrataEvent[],
): Promise<Step> {
  if (fold.sessionId !== held.sessionId || fold.parentTurnId !== held.parentTurnId) {
    throw new StrataError(
      "input-invalid",
      `fold ${fold.id} is not about the turns before turn ${held.id}`,
      "fold the thread that the running turn goes on from",
    );
  }
  await checkKept(store, fold, held.id);
  const { branchId, seq } = held.place;
  const [row] = await store.database.query(
    "SELECT COALESCE((SELECT MAX(seq) FROM turns WHERE branch_id = ? AND seq < ?), (SELECT fork_seq FROM branches WHERE id = ?), 0) AS seq",
    [branchId, seq, branchId],
  );
  const last = row === undefined ? 0 : integer(row, "seq");
  const place = { branchId, seq: Math.max(last + 1, seq - seqStep + 1) };
  const moveCount = held.moveCount + 1;
  const before = await latestFold(store, fold.parentTurnId);
  return {
    commit: {
      guards: [
        lockGuard(lock, fold),
        leaseGuard(
          store,
          held,
          "head_turn_id = ?, move_count = move_count + 1, cost_pico_usd = cost_pico_usd + ?, state_json = COALESCE(?, state_json), updated_ms = ?, ",
          [fold.id, fold.details.costPicoUsd, storableJson(fold.stateJson), store.now()],
        ),
      ],
      writes: [
        ...foldWrites(fold, { place, move: moveCount, before }),
        ...eventWrites(events),
        // Tools and system text that the turn brought are the fold's from now on.
        {
          sql: "UPDATE turns SET parent_turn_id = ?, foundation_hash = NULL, setup_json = NULL WHERE id = ?",
          values: [fold.id, held.id],
        },
      ],
      landed: landedFold(fold),
      advanced: [held.sessionId],
    },
    next: { ...held, parentTurnId: fold.id, moveCount, staged: stagedAfter(held, fold) },
  };
}

/** What the fold says itself is not sent again by the next call. */
function stagedAfter({ id, staged }: HeldTurn, { details }: NewFold): readonly number[] {
  const { firstKeptTurnId, firstKeptIndex = 0 } = details;
  return firstKeptTurnId === id ? staged.filter((index) => index >= firstKeptIndex) : staged;
}

/** A lock on another session is none. */
function lockGuard({ holder, token }: HeldLock, { sessionId }: Pick<NewFold, "sessionId">): Guard {
  return {
    name: "lock",
    sql: "SELECT 1 AS held FROM compaction_locks_v1 WHERE session_id = ? AND holder = ? AND token = ?",
    values: [sessionId, holder, token],
  };
}
