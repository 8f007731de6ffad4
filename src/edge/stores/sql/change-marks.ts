// Triggers that mark an hour as changed whenever a row that is summed there comes, changes or goes. In the same transaction as the
// row, by whomever it is written, so stored sums are never believed where they are old. Hours from `target_hour` on are not summed
// yet and need no mark: what is written as it happens costs a look at one row.

/** Statements per database, for full-text indexes and triggers. */
export type OwnStatements = Readonly<Record<"sqlite" | "postgres", readonly string[]>>;

/** The rows of a table, and the hours that one of them counts in. */
interface Marked {
  readonly table: string;
  /** Of a row `r`: no earlier hour is one of its own. */
  readonly time?: string;
  /** Which rows `r` count at all. */
  readonly only?: string;
  /** A query of the hours that a row `r` counts in. */
  readonly hours: string;
  /** Only changes of these columns count. */
  readonly columns: readonly string[];
  readonly events?: readonly TriggerEvent[];
}

type TriggerEvent = "INSERT" | "UPDATE" | "DELETE";

const allEvents: readonly TriggerEvent[] = ["INSERT", "UPDATE", "DELETE"];

const callHours = (condition: string): string =>
  `SELECT c.started_ms / 3600000 AS hour FROM calls c WHERE ${condition}`;

/** What sums read of a call. */
const callColumns = [
  "session_id",
  "started_ms",
  "ended_ms",
  "model",
  "provider",
  "policy",
  "status",
  "kind",
  "uncached_tokens",
  "read_tokens",
  "write_5m_tokens",
  "write_30m_tokens",
  "write_1h_tokens",
  "write_12h_tokens",
  "write_24h_tokens",
  "output_tokens",
  "reasoning_tokens",
  "cost_pico_usd",
  "outcome_json",
  "gateway_key",
  "user_name",
  "team_name",
  "arm",
  "turn_id",
  "number",
  "client_cost_pico_usd",
  "plain_cost_pico_usd",
];

const targetSql = "(SELECT g.target_hour FROM rollup_state g WHERE g.id = 1)";

/**
 * A transaction that reads its first snapshot for as long as it lasts may see an old target, so it marks all hours. The others see the
 * target of now, and whoever sets it waits for those that have seen the one before (`areWritersGone`).
 */
const postgresTargetSql = `(SELECT CASE WHEN current_setting('transaction_isolation') = 'read committed' THEN g.target_hour ELSE ${Number.MAX_SAFE_INTEGER} END FROM rollup_state g WHERE g.id = 1)`;

const marked: readonly Marked[] = [
  {
    table: "calls",
    time: "r.started_ms",
    hours: "SELECT r.started_ms / 3600000 AS hour",
    columns: callColumns,
  },
  {
    table: "turns",
    time: "r.started_ms",
    hours: "SELECT r.started_ms / 3600000 AS hour",
    columns: ["started_ms", "model", "provider", "status", "turn_type", "parent_turn_id"],
  },
  {
    table: "tool_calls",
    time: "(SELECT t.started_ms FROM turns t WHERE t.id = r.turn_id)",
    hours: "SELECT t.started_ms / 3600000 AS hour FROM turns t WHERE t.id = r.turn_id",
    columns: ["turn_id", "status"],
  },
  // A compaction begins a new prefix for all later calls of its session.
  {
    table: "compactions_v1",
    time: "r.compacted_at",
    hours: `SELECT r.compacted_at / 3600000 AS hour UNION ${callHours("c.session_id = r.session_id AND c.started_ms >= r.compacted_at")}`,
    columns: [
      "session_id",
      "compacted_at",
      "model_used",
      "provider",
      "input_tokens",
      "output_tokens",
      "cost_pico_usd",
      "turns_summarized",
      "compaction_type",
      "trigger",
      "tokens_before",
      "tokens_after",
      "summary_tokens",
      "duration_ms",
    ],
  },
  // Calls and compactions are also grouped by what their session says.
  {
    table: "sessions",
    hours: `${callHours("c.session_id = r.id")} UNION SELECT f.compacted_at / 3600000 FROM compactions_v1 f WHERE f.session_id = r.id`,
    columns: ["agent", "role", "parent_session_id"],
    events: ["UPDATE", "DELETE"],
  },
];

/** Step 15. The model of a miss may be that of its turn. */
const markedLater: readonly Marked[] = [
  {
    table: "events",
    time: "r.timestamp_us / 1000",
    only: "r.type = 'cache.miss'",
    hours: "SELECT r.timestamp_us / 3600000000 AS hour",
    columns: ["timestamp_us", "session_id", "turn_id", "type", "payload_json"],
  },
];

export const summedTables: readonly string[] = [...marked, ...markedLater].map(
  ({ table }) => table,
);

/** On PostgreSQL each transaction adds a mark of its own, so that writers never wait for each other. */
export const markTable: OwnStatements = {
  sqlite: ["CREATE TABLE changed_hours (hour BIGINT PRIMARY KEY, change BIGINT NOT NULL)"],
  postgres: [
    "CREATE TABLE changed_hours (hour BIGINT NOT NULL, change BIGINT NOT NULL, PRIMARY KEY (hour, change))",
  ],
};

export const missMarks: OwnStatements = {
  sqlite: markedLater.flatMap(sqliteTriggers),
  postgres: markedLater.flatMap(postgresTriggers),
};

function ofRow(sql: string, row: string): string {
  return sql.replaceAll("r.", `${row}.`);
}

/** They take the place of earlier ones. */
export const changeMarks: OwnStatements = {
  sqlite: marked.flatMap(sqliteTriggers),
  postgres: marked.flatMap(postgresTriggers),
};

function sqliteTriggers({
  table,
  time,
  only,
  hours,
  columns,
  events = allEvents,
}: Marked): readonly string[] {
  const mark = (row: "old" | "new"): string =>
    `INSERT INTO changed_hours (hour, change) SELECT x.hour, 1 FROM (${ofRow(hours, row)}) x WHERE x.hour < ${targetSql} ON CONFLICT (hour) DO UPDATE SET change = change + 1;`;
  return events.flatMap((event) => {
    const rows = (["old", "new"] as const).filter(
      (row) => event !== (row === "old" ? "INSERT" : "DELETE"),
    );
    const isSummed =
      time === undefined
        ? []
        : [rows.map((row) => `${ofRow(time, row)} < ${targetSql} * 3600000`).join(" OR ")];
    const isChanged =
      event === "UPDATE"
        ? [columns.map((column) => `old.${column} IS NOT new.${column}`).join(" OR ")]
        : [];
    const isCounted = only === undefined ? [] : [rows.map((row) => ofRow(only, row)).join(" OR ")];
    const conditions = [...isCounted, ...isSummed, ...isChanged].map((each) => `(${each})`);
    const when = conditions.length === 0 ? "" : ` WHEN ${conditions.join(" AND ")}`;
    const columnsOf = event === "UPDATE" ? ` OF ${columns.join(", ")}` : "";
    const name = `${table}_${event.toLowerCase()}_marked`;
    return [
      `DROP TRIGGER IF EXISTS ${name}`,
      `CREATE TRIGGER ${name} AFTER ${event}${columnsOf} ON ${table}${when} BEGIN ${rows.map(mark).join(" ")} END`,
    ];
  });
}

/**
 * Rows that come or go mark once per statement, and changed ones by themselves, where one of the columns is set. It has the
 * rights of the owner, so that a role that may write rows needs no rights on the marks.
 */
function postgresTriggers({
  table,
  time,
  only = "true",
  hours,
  columns,
  events = allEvents,
}: Marked): readonly string[] {
  const isSummed =
    time === undefined ? only : `${only} AND ${time} < ${postgresTargetSql} * 3600000`;
  const from = {
    INSERT: `new_rows r CROSS JOIN LATERAL (${hours}) h WHERE ${isSummed}`,
    DELETE: `old_rows r CROSS JOIN LATERAL (${hours}) h WHERE ${isSummed}`,
    UPDATE: `(${ofRow(hours, "OLD")} UNION ${ofRow(hours, "NEW")}) h WHERE (${columns.map((column) => `OLD.${column} IS DISTINCT FROM NEW.${column}`).join(" OR ")})`,
  };
  const fires = {
    INSERT: `INSERT ON ${table} REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT`,
    DELETE: `DELETE ON ${table} REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT`,
    UPDATE: `UPDATE OF ${columns.join(", ")} ON ${table} FOR EACH ROW`,
  };
  return events.flatMap((event) => {
    const name = `${table}_${event.toLowerCase()}_marked`;
    return [
      `DROP TRIGGER IF EXISTS ${name} ON ${table}`,
      `CREATE OR REPLACE FUNCTION strata_${name}() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$ BEGIN
        INSERT INTO changed_hours (hour, change)
        SELECT DISTINCT h.hour, CAST(CAST(pg_current_xact_id() AS TEXT) AS BIGINT)
        FROM ${from[event]} AND h.hour < ${postgresTargetSql} ON CONFLICT DO NOTHING;
        RETURN NULL; END $$`,
      `CREATE TRIGGER ${name} AFTER ${fires[event]} EXECUTE FUNCTION strata_${name}()`,
    ];
  });
}
