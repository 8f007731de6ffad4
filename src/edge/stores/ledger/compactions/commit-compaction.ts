// Appends a compaction: between turns, or before a running turn.
import type { StrataEvent } from "../../../../core/events/event.ts";
import type { NewCompaction } from "../../../../core/ledger/compaction-record.ts";
import type { CompactionLock } from "../../../../core/ledger/ledger.ts";
import type { JsonText } from "../../../../core/message/message.ts";
import { StrataError } from "../../../../core/strata-error.ts";
import type { Guard, Statement } from "../../sql/database.ts";
import { storable, storableJson } from "../../sql/storable.ts";
import { integer } from "../../sql/read-row.ts";
import { addCost } from "../../sql/sums.ts";
import { eventWrites } from "../event-rows.ts";
import { needSession } from "../sessions/session-rows.ts";
import {
  commitOnce,
  commitSharing,
  conflict,
  landedRow,
  mayRepeat,
  seqStep,
  type Store,
} from "../store.ts";
import { leaseGuard, leaseUpdate, type HeldTurn, type TurnWrite } from "../turns/held-turn.ts";
import { checkKept } from "./check-kept.ts";
import { compactionWrites } from "./compaction-rows.ts";
import { latestCompaction } from "../threads/thread-path.ts";

export type HeldLock = Pick<CompactionLock, "sessionId" | "holder" | "token">;

/** A compaction between turns. The session points at it afterwards. */
export async function commitCompaction(
  store: Store,
  lock: HeldLock,
  compaction: NewCompaction,
  events: readonly StrataEvent[],
): Promise<void> {
  const known = await needSession(store, compaction.sessionId);
  await checkKept(store, compaction, null);
  const { branchId, nextSeq, moveCount } = known;
  const place = { branchId, seq: nextSeq };
  const before = await latestCompaction(store, compaction.parentTurnId);
  const result = await commitSharing(store, {
    guards: [
      lockGuard(lock, compaction),
      {
        name: "session",
        sql: `UPDATE sessions SET head_turn_id = ?, next_seq = ?, move_count = move_count + 1, ${addCost}, state_json = COALESCE(?, state_json), updated_ms = ? WHERE id = ? AND status = 'active' AND open_turn_id IS NULL AND head_turn_id = ? AND next_seq = ? AND move_count = ?`,
        values: [
          compaction.id,
          nextSeq + seqStep,
          compaction.details.costPicoUsd,
          compaction.details.costPicoUsd,
          storableJson(compaction.stateJson),
          store.now(),
          compaction.sessionId,
          compaction.parentTurnId,
          nextSeq,
          moveCount,
        ],
      },
    ],
    writes: [
      ...compactionWrites(store, compaction, { place, move: moveCount + 1, before }),
      ...eventWrites(events),
    ],
    landed: () => landedCompaction(compaction),
  });
  if (result.kind === "done") return;
  throw compactionRefused(compaction, result.kind === "refused" ? result.guard : result.table);
}

/** Leaves the thread unchanged and stores only what was learned. */
export async function giveUpCompaction(
  store: Store,
  lock: HeldLock,
  stateJson: JsonText,
): Promise<void> {
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
    `the lock on compacting session ${sessionId} was lost, or a turn is running in it`,
    "read the session again",
  );
}

/** Asks whether exactly this compaction is recorded. */
export function landedCompaction({ id, sessionId, details }: NewCompaction): Statement {
  return landedRow("compactions_v1", {
    turn_id: id,
    session_id: sessionId,
    compacted_at: details.compactedMs,
    summary: storable(details.summary),
    summarized_through_turn_id: details.summarizedThroughTurnId,
    first_kept_turn_id: details.firstKeptTurnId,
    first_kept_index: details.firstKeptIndex ?? 0,
  });
}

function compactionRefused({ id, sessionId, parentTurnId }: NewCompaction, why: string): Error {
  switch (why) {
    case "lock":
      return conflict(
        `the lock on compacting session ${sessionId} was lost`,
        "compact again later",
      );
    case "turns":
    case "compactions_v1":
      return conflict(`turn ${id} is already in the ledger`, "give every compaction its own id");
    case "events":
      return conflict(
        `an event of compaction ${id} has an id that is already in the ledger`,
        "make ids greater than the session's last one; nothing was compacted",
      );
    default:
      return conflict(
        `session ${sessionId} no longer points at turn ${parentTurnId ?? "none"}, has a running turn, or is archived`,
        "read the session again and compact its current thread",
      );
  }
}

const moving = leaseUpdate(
  `head_turn_id = ?, move_count = move_count + 1, ${addCost}, state_json = COALESCE(?, state_json), updated_ms = ?, `,
);

/** A compaction inside a running turn. It goes before that turn, which then follows it. */
export async function compactionInTurn(
  store: Store,
  held: HeldTurn,
  compaction: NewCompaction,
  lock: CompactionLock,
  events: readonly StrataEvent[],
): Promise<TurnWrite> {
  if (compaction.sessionId !== held.sessionId || compaction.parentTurnId !== held.parentTurnId) {
    throw new StrataError(
      "input-invalid",
      `compaction ${compaction.id} does not cover the turns before turn ${held.id}`,
      "compact the thread that the running turn continues",
    );
  }
  await checkKept(store, compaction, held.id);
  const { branchId, seq } = held.place;
  const [row] = await store.database.query(
    "SELECT COALESCE((SELECT MAX(seq) FROM turns WHERE branch_id = ? AND seq < ?), (SELECT fork_seq FROM branches WHERE id = ?), 0) AS seq",
    [branchId, seq, branchId],
  );
  const last = row === undefined ? 0 : integer(row, "seq");
  const place = { branchId, seq: Math.max(last + 1, seq - seqStep + 1) };
  const moveCount = held.moveCount + 1;
  const before = await latestCompaction(store, compaction.parentTurnId);
  return {
    commit: {
      guards: [
        lockGuard(lock, compaction),
        leaseGuard(store, held, moving, [
          compaction.id,
          compaction.details.costPicoUsd,
          compaction.details.costPicoUsd,
          storableJson(compaction.stateJson),
          store.now(),
        ]),
      ],
      writes: [
        ...compactionWrites(store, compaction, { place, move: moveCount, before }),
        ...eventWrites(events),
        // The compaction takes over the tools and system text that the turn brought.
        {
          sql: "UPDATE turns SET parent_turn_id = ?, foundation_hash = NULL, setup_json = NULL WHERE id = ?",
          values: [compaction.id, held.id],
        },
      ],
      landed: () => landedCompaction(compaction),
    },
    next: {
      ...held,
      parentTurnId: compaction.id,
      moveCount,
      staged: stagedAfter(held, compaction),
    },
  };
}

/** Messages that the compaction covers are not staged for the next call. */
function stagedAfter({ id, staged }: HeldTurn, { details }: NewCompaction): readonly number[] {
  const { firstKeptTurnId, firstKeptIndex = 0 } = details;
  return firstKeptTurnId === id ? staged.filter((index) => index >= firstKeptIndex) : staged;
}

/** Requires the lock on this very session. */
function lockGuard(
  { holder, token }: HeldLock,
  { sessionId }: Pick<NewCompaction, "sessionId">,
): Guard {
  return {
    name: "lock",
    sql: "SELECT 1 AS held FROM compaction_locks_v1 WHERE session_id = ? AND holder = ? AND token = ?",
    values: [sessionId, holder, token],
  };
}
