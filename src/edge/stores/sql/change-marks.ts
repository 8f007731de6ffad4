// Triggers that mark an hour as changed whenever a row that is summed there comes, changes or goes. In the same transaction as the
// row, by whomever it is written, so stored sums are never believed where they are old.

/** Statements per database, for full-text indexes and triggers. */
export type OwnStatements = Readonly<Record<"sqlite" | "postgres", readonly string[]>>;

/** The rows of a table, and the hours that one of them counts in. */
interface Marked {
  readonly table: string;
  /** The hour of a row `r`; for a table without a time, a query of the hours. */
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

const marked: readonly Marked[] = [
  { table: "calls", hours: "SELECT r.started_ms / 3600000 AS hour", columns: callColumns },
  {
    table: "turns",
    hours: "SELECT r.started_ms / 3600000 AS hour",
    columns: ["started_ms", "model", "provider", "status", "turn_type", "parent_turn_id"],
  },
  {
    table: "tool_calls",
    hours: "SELECT t.started_ms / 3600000 AS hour FROM turns t WHERE t.id = r.turn_id",
    columns: ["turn_id", "status"],
  },
  // A compaction begins a new prefix for all later calls of its session.
  {
    table: "compactions_v1",
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

/** On PostgreSQL each transaction adds a mark of its own, so that writers never wait for each other. */
export const changeMarks: OwnStatements = {
  sqlite: [
    "CREATE TABLE changed_hours (hour BIGINT PRIMARY KEY, change BIGINT NOT NULL)",
    ...marked.flatMap(sqliteTriggers),
  ],
  postgres: [
    "CREATE TABLE changed_hours (hour BIGINT NOT NULL, change BIGINT NOT NULL, PRIMARY KEY (hour, change))",
    ...marked.flatMap(postgresTriggers),
  ],
};

function sqliteTriggers({ table, hours, columns, events = allEvents }: Marked): readonly string[] {
  const mark = (row: "old" | "new"): string =>
    `INSERT INTO changed_hours (hour, change) SELECT x.hour, 1 FROM (${hours.replaceAll("r.", `${row}.`)}) x WHERE true ON CONFLICT (hour) DO UPDATE SET change = change + 1;`;
  return events.map((event) => {
    const of = event === "UPDATE" ? ` OF ${columns.join(", ")}` : "";
    const marks = [event === "INSERT" ? "" : mark("old"), event === "DELETE" ? "" : mark("new")];
    return `CREATE TRIGGER ${table}_${event.toLowerCase()}_marked AFTER ${event}${of} ON ${table} BEGIN ${marks.join(" ")} END`;
  });
}

/**
 * Rows that come or go mark once per statement, and changed ones by themselves, where one of the columns is set. It has the
 * rights of the owner, so that a role that may write rows needs no rights on the marks.
 */
function postgresTriggers({
  table,
  hours,
  columns,
  events = allEvents,
}: Marked): readonly string[] {
  const of = (row: string): string => hours.replaceAll("r.", `${row}.`);
  const from = {
    INSERT: `new_rows r CROSS JOIN LATERAL (${hours}) h`,
    DELETE: `old_rows r CROSS JOIN LATERAL (${hours}) h`,
    UPDATE: `(${of("OLD")} UNION ${of("NEW")}) h`,
  };
  const fires = {
    INSERT: `INSERT ON ${table} REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT`,
    DELETE: `DELETE ON ${table} REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT`,
    UPDATE: `UPDATE OF ${columns.join(", ")} ON ${table} FOR EACH ROW`,
  };
  return events.flatMap((event) => {
    const name = `${table}_${event.toLowerCase()}_marked`;
    return [
      `CREATE FUNCTION strata_${name}() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$ BEGIN
        INSERT INTO changed_hours (hour, change)
        SELECT DISTINCT h.hour, CAST(CAST(pg_current_xact_id() AS TEXT) AS BIGINT)
        FROM ${from[event]} WHERE h.hour IS NOT NULL ON CONFLICT DO NOTHING;
        RETURN NULL; END $$`,
      `CREATE TRIGGER ${name} AFTER ${fires[event]} EXECUTE FUNCTION strata_${name}()`,
    ];
  });
}
