// Imports an export: checks every line of it, then writes it in one commit.
import type { ImportOptions } from "../../../../core/ledger/ledger.ts";
import type { SessionRecord } from "../../../../core/ledger/session-record.ts";
import { StrataError } from "../../../../core/strata-error.ts";
import type { Commit, Write } from "../../sql/database.ts";
import type { Row, TableName, Value } from "../../sql/tables.ts";
import { exportFormat } from "./export-session.ts";
import { brokenLine, readKeptRows, tableOrder, type KeptFile } from "./kept-lines.ts";
import { markImported } from "../../../../core/ledger/imported.ts";
import { findKnown, needSession } from "../sessions/session-rows.ts";
import { commitBranching, conflict, landedRow, type Store } from "../store.ts";
import { checkName } from "../sessions/write-session.ts";

export async function importSession(
  store: Store,
  lines: AsyncIterable<string>,
  { as, isTrusted = false }: ImportOptions = {},
): Promise<SessionRecord> {
  const exported = await readExport(lines);
  const read = isTrusted ? exported : withoutTrust(exported, store.now());
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

/** Without the folder that the file names, and archived: someone has to accept its tools and system text. */
function withoutTrust({ session, rows }: ReadExport, importedMs: number): ReadExport {
  const own = rows.get("sessions")?.map((row) => ({
    ...row,
    workspace_path: null,
    status: "archived",
    context_json: markImported(row["context_json"] ?? null, {
      importedMs,
      workspacePath: row["workspace_path"] ?? null,
    }),
  }));
  return { session, rows: new Map([...rows, ["sessions", own ?? []]]) };
}

interface ReadExport {
  readonly session: string;
  readonly rows: ReadonlyMap<TableName, readonly Row[]>;
}

const file: KeptFile = {
  what: "import",
  format: exportFormat,
  hint: "use a file that `strata sessions export` wrote, unchanged; nothing was imported",
};

async function readExport(lines: AsyncIterable<string>): Promise<ReadExport> {
  const rows = new Map<TableName, Row[]>();
  let session = "";
  const checked = readKeptRows(file, lines, (header) => {
    const named = header.get("session");
    session = typeof named === "string" ? named : "";
  });
  for await (const { table, row, number } of checked) {
    const known = rows.get(table) ?? [];
    if (ofNoSession.has(table)) {
      throw brokenLine(file, number, `holds ${table}, which belongs to no session`);
    }
    if (table === "branches") checkBranch(row, number);
    if (table === "sessions" && known.length > 0)
      throw brokenLine(file, number, "holds a second session");
    rows.set(table, known);
    known.push(row);
  }
  if (!rows.has("sessions")) throw notWhole();
  return { session, rows };
}

/** What a provider keeps, and what keys have spent, are this ledger's own matter. */
const ofNoSession: ReadonlySet<TableName> = new Set(["provider_resources", "key_spending"]);

/** Parents come first, so that the branches contain no cycle. */
function checkBranch({ id, parent_branch_id: parent }: Row, number: number): void {
  const isFit = typeof id === "number" && (parent === null || Number(parent) < id);
  if (!isFit) throw brokenLine(file, number, "is a branch that comes before its parent");
}

function notWhole(): StrataError {
  return new StrataError(
    "input-invalid",
    "the import is incomplete: it refers to turns or branches that it does not contain, or has no session",
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
    landed: () =>
      landedRow("sessions", {
        id,
        branch_id: rows.get("sessions")?.[0]?.["branch_id"] ?? null,
      }),
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
