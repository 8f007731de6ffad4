// Imports an export: checks it, then writes it in one commit.
import type { SessionRecord } from "../../../../core/ledger/session-record.ts";
import { StrataError } from "../../../../core/strata-error.ts";
import type { Commit, Write } from "../../sql/database.ts";
import type { Row, TableName, Value } from "../../sql/tables.ts";
import { tableOrder } from "./kept-lines.ts";
import { readExport, type ReadExport } from "./read-export.ts";
import { findKnown, needSession } from "../sessions/session-rows.ts";
import { commitBranching, conflict, type Store } from "../store.ts";
import { checkName } from "../sessions/write-session.ts";

export async function importSession(
  store: Store,
  lines: AsyncIterable<string>,
  as?: string,
): Promise<SessionRecord> {
  const read = await readExport(lines);
  const id = as ?? read.session;
  checkName(id);
  if ((await findKnown(store, id)) !== null) {
    throw conflict(`session ${id} already exists`, "import it under another name with --as NAME");
  }
  const result = await commitBranching(store, () => importCommit(renamed(store, read, id), id));
  if (result.kind === "done") return (await needSession(store, id)).record;
  if (result.kind === "refused") throw notWhole();
  throw conflict(
    "another session of this ledger already has turns or events of the import",
    "fork that session instead; nothing was imported",
  );
}

function notWhole(): StrataError {
  return new StrataError(
    "input-invalid",
    "the import is incomplete: it refers to turns or branches that it does not contain",
    "export the session again; nothing was imported",
  );
}

function importCommit(rows: ReadonlyMap<TableName, readonly Row[]>, id: string): Commit {
  return {
    inOrder: true,
    guards: [],
    writes: tableOrder.flatMap((table): readonly Write[] => {
      const found = rows.get(table) ?? [];
      if (found.length === 0) return [];
      return [{ into: table, rows: found, orIgnore: table === "contents" }];
    }),
    landed: {
      sql: "SELECT 1 AS landed FROM sessions WHERE id = ? AND branch_id = ?",
      values: [id, rows.get("sessions")?.[0]?.["branch_id"] ?? null],
    },
    advanced: [id],
  };
}

/** Gives branches new ids and the session its name. */
function renamed(
  store: Store,
  { session, rows }: ReadExport,
  id: string,
): ReadonlyMap<TableName, readonly Row[]> {
  const branches = new Map<Value, number>();
  for (const row of rows.get("branches") ?? [])
    branches.set(row["id"] ?? null, store.newBranchId());
  const branchOf = (value: Value | undefined): Value => {
    if (value === undefined || value === null) return null;
    const branchId = branches.get(value);
    if (branchId === undefined) throw notWhole();
    return branchId;
  };
  const rename = (value: Value | undefined): Value => (value === session ? id : (value ?? null));
  return new Map(
    [...rows].map(([table, list]) => [
      table,
      list.map((row) => ({
        ...row,
        ...("branch_id" in row ? { branch_id: branchOf(row["branch_id"]) } : {}),
        ...("session_id" in row ? { session_id: rename(row["session_id"]) } : {}),
        ...(table === "sessions" ? { id: rename(row["id"]) } : {}),
        ...(table === "branches"
          ? { id: branchOf(row["id"]), parent_branch_id: branchOf(row["parent_branch_id"]) }
          : {}),
      })),
    ]),
  );
}
