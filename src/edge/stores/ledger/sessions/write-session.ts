// Writes a session's row with its branch and the first move of its pointer, in one commit.
import type { NewTurn } from "../../../../core/ledger/turn-record.ts";
import { StrataError } from "../../../../core/strata-error.ts";
import type { Commit, Write } from "../../sql/database.ts";
import type { Row } from "../../sql/tables.ts";
import { contentWrites, messageRow, messageWrites } from "../message-rows.ts";
import {
  busyWith,
  commitBranching,
  conflict,
  landedRow,
  notFound,
  seqStep,
  triesMax,
  type Store,
} from "../store.ts";
import { newTurnRow, type TurnPlace } from "../turns/turn-rows.ts";

export interface SessionWrite {
  readonly row: Row;
  readonly contents: readonly string[];
  readonly fork: TurnPlace | null;
  readonly reason: "opened" | "fork";
  /** A conversation it begins with, as a completed turn. */
  readonly opening: NewTurn | null;
  readonly also: readonly Write[];
}

export async function writeSession(store: Store, write: SessionWrite): Promise<void> {
  const id = String(write.row["id"]);
  const parent = write.row["parent_session_id"];
  for (let tries = 1; tries <= triesMax; tries += 1) {
    const result = await commitBranching(store, () => sessionCommit(store, write, id));
    if (result.kind === "done") return;
    if (result.kind === "taken") {
      throw conflict(
        `session ${id} already exists`,
        "choose another name, or continue that session",
      );
    }
    if (result.guard === "parent") throw notFound(`session ${String(parent)}, which starts ${id}`);
    if (write.fork !== null) throw conflict("the turn to fork from is gone", "fork from another");
    // The last session with the same foundation was just deleted, so the text is written again.
  }
  throw busyWith(id);
}

function sessionCommit(store: Store, write: SessionWrite, id: string): Commit {
  const { row, contents, fork, opening, also } = write;
  const branchId = store.newBranchId();
  const parent = row["parent_session_id"] ?? null;
  const begun = opening === null ? {} : { ...pointedAt(opening), turn_count: 1 };
  return {
    guards:
      parent === null || fork !== null
        ? []
        : [
            {
              name: "parent",
              sql: "UPDATE sessions SET version = version + 1 WHERE id = ?",
              values: [parent],
            },
          ],
    writes: [
      ...contentWrites(contents),
      { into: "branches", rows: [branchRow(branchId, fork)] },
      ...(opening === null ? [] : openingWrites(store, opening, { branchId, seq: seqStep })),
      { into: "sessions", rows: [{ ...row, ...begun, branch_id: branchId }] },
      { into: "session_history", rows: moves(store, write, branchId) },
      ...also,
    ],
    // Every attempt has a new branch, which distinguishes our session from another of the same name.
    landed: () => landedRow("sessions", { id, branch_id: branchId }),
  };
}

function pointedAt({ id }: NewTurn): Row {
  return { head_turn_id: id, next_seq: 2 * seqStep, move_count: 2 };
}

function moves(store: Store, { row, reason, opening }: SessionWrite, branchId: number): Row[] {
  const first: Row = {
    session_id: row["id"] ?? null,
    move: 1,
    turn_id: row["head_turn_id"] ?? null,
    branch_id: branchId,
    moved_ms: store.now(),
    reason,
  };
  if (opening === null) return [first];
  return [first, { ...first, move: 2, turn_id: opening.id, reason: "turn" }];
}

function openingWrites(store: Store, turn: NewTurn, place: TurnPlace): readonly Write[] {
  const rows = turn.messages.map((message, index) =>
    messageRow(store, message, { ...place, index, callNumber: 0 }),
  );
  const done = {
    status: "completed",
    completed_ms: turn.startMs,
    end_reason: "earlier conversation",
  };
  return [
    { into: "turns", rows: [{ ...newTurnRow(turn, place), ...done }] },
    ...messageWrites(rows, turn.messages),
  ];
}

export function branchRow(id: number, fork: TurnPlace | null): Row {
  return { id, parent_branch_id: fork?.branchId ?? null, fork_seq: fork?.seq ?? null };
}

/** Names that people and shells can write and every database stores. */
export function checkName(
  id: string,
  what: "session" | "turn" | "call" | "queue item" | "provider resource" = "session",
): void {
  // oxlint-disable-next-line no-control-regex
  const isFit = id !== "" && id.length <= 200 && !/[\u0000-\u001f\u007f]/.test(id);
  if (isFit && id.isWellFormed()) return;
  throw new StrataError(
    "input-invalid",
    `${JSON.stringify(id)} cannot name a ${what}`,
    "use 1 to 200 characters without line breaks or control characters",
  );
}
