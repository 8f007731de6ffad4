// A session's row with its branch and the first move of its pointer, in one commit.
import { hashContent } from "../../../core/hash.ts";
import { StrataError } from "../../../core/strata-error.ts";
import type { Commit, Insert, Write } from "../sql/database.ts";
import type { Row } from "../sql/tables.ts";
import { moveRow } from "./session-rows.ts";
import { commitBranching, conflict, type Store } from "./store.ts";
import type { TurnPlace } from "./turn-rows.ts";

interface SessionWrite {
  /** Without its branch. */
  readonly row: Row;
  readonly contents: readonly string[];
  readonly fork: TurnPlace | null;
  readonly reason: "opened" | "fork";
  /** What else is written with it. */
  readonly also: readonly Write[];
}

export async function writeSession(store: Store, write: SessionWrite): Promise<void> {
  const id = String(write.row["id"]);
  const result = await commitBranching(store, () => sessionCommit(store, write, id));
  if (result.kind === "done") return;
  if (result.kind === "refused")
    throw conflict(`the turn to fork from is gone`, "fork from another");
  throw conflict(`session ${id} exists already`, "choose another name, or go on with that one");
}

function sessionCommit(store: Store, write: SessionWrite, id: string): Commit {
  const { row, contents, fork, reason, also } = write;
  const branchId = store.newBranchId();
  const kept: Insert = {
    into: "contents",
    rows: contents.map((each) => ({ hash: hashContent(each), text: each })),
    orIgnore: true,
  };
  const turnId = typeof row["head_turn_id"] === "string" ? row["head_turn_id"] : null;
  const move = { sessionId: id, move: 1, turnId, branchId, movedMs: store.now(), reason };
  return {
    guards: [],
    writes: [
      ...(contents.length === 0 ? [] : [kept]),
      { into: "branches", rows: [branchRow(branchId, fork)] },
      { into: "sessions", rows: [{ ...row, branch_id: branchId }] },
      { into: "session_history", rows: [moveRow(move)] },
      ...also,
    ],
    // The branch is new with every attempt: it tells our session from another of the same name.
    landed: {
      sql: "SELECT 1 AS landed FROM sessions WHERE id = ? AND branch_id = ?",
      values: [id, branchId],
    },
  };
}

export function branchRow(id: number, fork: TurnPlace | null): Row {
  return { id, parent_branch_id: fork?.branchId ?? null, fork_seq: fork?.seq ?? null };
}

/** What people and shells can write, and every database keeps. */
export function checkName(id: string): void {
  // oxlint-disable-next-line no-control-regex
  const isFit = id !== "" && id.length <= 200 && !/[\u0000-\u001f\u007f]/.test(id);
  if (isFit && id.isWellFormed()) return;
  throw new StrataError(
    "input-invalid",
    `${JSON.stringify(id)} cannot name a session`,
    "use 1 to 200 characters without line breaks or control characters",
  );
}
