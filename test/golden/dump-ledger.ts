// Every table of a ledger's file, row by row, in an order that does not depend on chance.
import { DatabaseSync } from "node:sqlite";
import { sha256, type Names } from "./normalise.ts";

type Row = Readonly<Record<string, unknown>>;

export type LedgerDump = Readonly<Record<string, readonly unknown[]>>;

/** Columns by which rows are ordered where the order of insertion says nothing. */
const orders: Readonly<Record<string, readonly string[]>> = {
  branches: ["id"],
  turns: ["branch_id", "seq"],
  messages: ["branch_id", "turn_seq", "idx"],
  message_terms: ["branch_id", "turn_seq", "idx", "part"],
  contents: ["hash"],
};

/** The engine emits it now, too; the records are older. */
export const newerEvent = "session.resumed";

/** Without empty tables. Events are compared with those that were told: `told` is each by its id. */
export function dumpLedger(
  file: string,
  names: Names,
  told: ReadonlyMap<string, unknown>,
): LedgerDump {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    const branches = createBranchNames(database);
    const dump: Record<string, readonly unknown[]> = {};
    for (const table of tablesOf(database)) {
      const rows = rowsOf(database, table)
        .filter((row) => table !== "events" || row["type"] !== newerEvent)
        .map((row) => branches(table, row));
      if (rows.length === 0) continue;
      dump[table] =
        table === "events" ? dumpEvents(rows, names, told) : dumpRows(rows, table, names);
    }
    return dump;
  } finally {
    database.close();
  }
}

/** What the tables are, each as a hash of its statement. */
export function dumpSchema(file: string): Readonly<Record<string, string>> {
  const database = new DatabaseSync(file, { readOnly: true });
  const rows = database
    .prepare("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name")
    .all();
  database.close();
  return Object.fromEntries(
    rows.map(({ name, sql }) => [String(name), sha256(String(sql)).slice(0, 16)]),
  );
}

/** Sessions first: what they point at gets its name there. */
function tablesOf(database: DatabaseSync): readonly string[] {
  const rows = database
    .prepare(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE 'message_terms_text%' AND name NOT LIKE 'rollup%' AND name NOT IN ('strata_schema', 'changed_hours') ORDER BY name = 'sessions' DESC, name = 'turns' DESC, name",
    )
    .all();
  return rows.map(({ name }) => String(name));
}

function rowsOf(database: DatabaseSync, table: string): readonly Row[] {
  const statement = database.prepare(`SELECT * FROM "${table}" ORDER BY rowid`);
  if (table !== "events") return statement.all();
  // The database itself gives them their place.
  return statement.all().map(({ position: _position, ...row }) => row);
}

/** Their ids grow with the machine's clock and end by chance. */
function createBranchNames(database: DatabaseSync): (table: string, row: Row) => Row {
  const known = new Map<unknown, string>();
  const add = (id: unknown): void => {
    if (id !== null && !known.has(id)) known.set(id, `branch-${known.size + 1}`);
  };
  for (const row of rowsOf(database, "sessions")) add(row["branch_id"]);
  for (const row of rowsOf(database, "session_history")) add(row["branch_id"]);
  for (const row of rowsOf(database, "branches")) add(row["id"]);
  return (table, row) => {
    const columns = ["branch_id", "parent_branch_id", ...(table === "branches" ? ["id"] : [])];
    const named = columns.filter((name) => row[name] !== undefined && row[name] !== null);
    return { ...row, ...Object.fromEntries(named.map((name) => [name, known.get(row[name])])) };
  };
}

function dumpRows(rows: readonly Row[], table: string, names: Names): readonly unknown[] {
  const order = orders[table] ?? [];
  const ordered = rows.toSorted((one, other) => {
    for (const column of order) {
      const difference = compare(one[column], other[column]);
      if (difference !== 0) return difference;
    }
    return 0;
  });
  return ordered.map((row) => dumpRow(table, row, names));
}

function compare(one: unknown, other: unknown): number {
  if (typeof one === "number" && typeof other === "number") return one - other;
  return String(one) < String(other) ? -1 : String(one) > String(other) ? 1 : 0;
}

/** Without what is null, and without columns that the records are older than; JSON as what it says, plans in short. */
function dumpRow(table: string, row: Row, names: Names): unknown {
  const entries = Object.entries(withoutRepeated(row)).filter(
    ([column, value]) => value !== null && !isNewer(table, column, value),
  );
  // An entry under a random name has another hash in each run.
  const isRandom = table === "calls" && names.inText(String(row["turn_id"])) !== row["turn_id"];
  const kept = entries.filter(([column]) => !(isRandom && column === "entry_hash"));
  return Object.fromEntries(
    kept.map(([column, value]) => [
      column,
      column === "plan_json"
        ? dumpPlan(String(value), names)
        : names.inValue(toJson(column, value)),
    ]),
  );
}

/** Other tests look at these. A call that is not of a turn would be new, and so would a session that is not of the engine. */
function isNewer(table: string, column: string, value: unknown): boolean {
  if (table === "sessions" && column === "origin") return value === "engine";
  if (table === "calls") return column === "kind" && value === "turn";
  return newerColumns[table]?.includes(column) ?? false;
}

const newerColumns: Readonly<Record<string, readonly string[]>> = {
  messages: ["message_id"],
  sessions: ["persona_id"],
  turns: ["permissions_used"],
  tool_calls: ["position", "message_idx", "result_idx", "started_ms", "completed_ms"],
};

function toJson(column: string, value: unknown): unknown {
  return column.endsWith("_json") ? JSON.parse(String(value)) : value;
}

/** What a session is made of is written down twice. */
function withoutRepeated(row: Row): Row {
  const { context_json: context, setup_json: setup } = row;
  if (typeof context !== "string" || typeof setup !== "string") return row;
  const [one, other] = [JSON.parse(context), JSON.parse(setup)];
  const isSame = JSON.stringify(one.madeOf) === JSON.stringify(other.madeOf);
  return isSame
    ? { ...row, setup_json: JSON.stringify({ ...other, madeOf: "as in context_json" }) }
    : row;
}

/** Markers without their reasons, and what they should come to; of everything else a hash. */
function dumpPlan(text: string, names: Names): unknown {
  const { markers, expected, ...rest } = JSON.parse(text);
  return {
    markers: Object.values<object>(markers).map((marker) =>
      Object.entries(marker)
        .filter(([name]) => name !== "reason")
        .map(([, value]) => String(names.inValue(value)))
        .join(" "),
    ),
    ...Object.fromEntries(Object.entries(rest).filter(isPlain)),
    expected: names.inValue({
      ...Object.fromEntries(Object.entries(Object(expected)).filter(isPlain)),
      writeTokens: expected?.writeTokens,
    }),
    sha256: sha256(names.inText(text)).slice(0, 16),
  };
}

function isPlain([, value]: readonly [string, unknown]): boolean {
  return typeof value !== "object";
}

/** How many are as they were told, and those that are not. */
function dumpEvents(
  rows: readonly Row[],
  names: Names,
  told: ReadonlyMap<string, unknown>,
): readonly unknown[] {
  const dumped = rows.map((row) => {
    const payload = JSON.parse(String(row["payload_json"]));
    // By the machine's clock.
    if (String(row["type"]).startsWith("tool.")) delete payload.latency_ms;
    const timeless = { ...row, payload_json: JSON.stringify(payload) };
    const isTold = JSON.stringify(told.get(String(row["id"]))) === JSON.stringify(row);
    return isTold ? null : dumpRow("events", timeless, names);
  });
  const others = dumped.filter((row) => row !== null).map((row) => JSON.stringify(row));
  return [
    `${rows.length - others.length} as told`,
    ...others.toSorted().map((row) => JSON.parse(row)),
  ];
}
