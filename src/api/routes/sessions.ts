// Sessions and conversations: found by words, and one with what fills its window.
import { toIso } from "../../analytics/time-window.ts";
import { toUsdText } from "../../analytics/figures.ts";
import type { SessionRecord } from "../../core/ledger/session-record.ts";
import { findModel } from "../../core/models/resolve-model.ts";
import { selectSessions, toKnown } from "../../edge/stores/ledger/sessions/session-rows.ts";
import type { Snapshot } from "../../edge/stores/sql/database.ts";
import { integer, text as textOf } from "../../edge/stores/sql/read-row.ts";
import { selected } from "../../edge/stores/sql/tables.ts";
import { refuseWith } from "../answer/api-error.ts";
import { callMembers, toCall, toConversationFacts } from "../shapes/call-shape.ts";
import { one, pageOf } from "./envelope.ts";
import { cut, parsePage, toPage, windowOf } from "./paging.ts";
import type { Asked, Found, Route, Source } from "./route.ts";
import { count, list, moment, object, oneOf, orNull, text, usd, type Schema } from "./schema.ts";

const origins = ["all", "engine", "gateway"] as const;

const sessionMembers: Readonly<Record<string, Schema>> = {
  session: text("its name"),
  origin: oneOf(["engine", "gateway"], "one of our own, or a conversation that the gateway saw"),
  agent: text("the agent, or the program of the conversation"),
  kind: text("of a conversation: conversation, sub-agent, title, summary, single; else its role"),
  client_session: orNull(text("the program's own name for it")),
  model: text("of its latest call"),
  provider: text("of that model"),
  parent_session: orNull(text("the session that started it")),
  task: orNull(text("of a sub-agent")),
  workspace: orNull(text("its folder")),
  status: oneOf(["active", "archived"], "archived sessions take no turns"),
  turn_count: count("completed turns"),
  cost_usd: usd("all its calls"),
  created_at: moment("in UTC"),
  updated_at: moment("in UTC; lists are in its order, latest first"),
};

export const sessionRoutes: readonly Route[] = [
  {
    name: "session_list",
    method: "GET",
    path: "/sessions",
    summary: "Sessions and conversations that changed within a time, the latest first",
    query: ["from", "to", "search", "origin", "agent", "parent", "limit", "cursor"],
    values: { origin: origins },
    answer: pageOf(object(sessionMembers)),
    errors: ["invalid_time_window", "invalid_limit", "invalid_cursor"],
    example: "/sessions?from=24h&search=billing",
    read: listSessions,
  },
  {
    name: "session",
    method: "GET",
    path: "/sessions/{session}",
    summary: "One session: what fills its window, who it started, how often it was compacted",
    query: [],
    answer: one(
      object({
        ...sessionMembers,
        call_count: count("all its calls"),
        miss_count: count("misses in its events"),
        compaction_count: count("how often it was compacted"),
        sub_sessions: list(text("a name"), "the sessions that it started, at most 1000"),
        window_tokens: orNull(count("of its model; null for a model that is not listed")),
        latest_call: orNull(object(callMembers, "what fills the window now; null without calls")),
      }),
    ),
    errors: ["session_not_found"],
    example: "/sessions/build",
    read: readSession,
  },
];

async function listSessions(asked: Asked, { database, nowMs }: Source): Promise<Found> {
  const { search, origin = "all", agent, parent } = asked.query;
  const windowed = windowOf(asked, nowMs);
  const page = parsePage(asked.query);
  checkOrigin(origin);
  const { startMs, endMs } = windowed.window;
  const conditions: [string, readonly (string | number)[]][] = [
    ["updated_ms >= ? AND updated_ms < ?", [startMs, endMs]],
  ];
  if (origin !== "all") conditions.push(["origin = ?", [origin]]);
  if (agent !== undefined) conditions.push(["agent = ?", [agent]]);
  if (parent !== undefined) conditions.push(["parent_session_id = ?", [parent]]);
  if (page.after !== null) {
    conditions.push(["(updated_ms, id) < (?, ?)", [page.after.at, page.after.id]]);
  }
  for (const word of wordsOf(search)) conditions.push([hasWord, searched.map(() => word)]);
  const where = conditions.map(([sql]) => sql).join(" AND ");
  const rows = await database.snapshot(({ query }) =>
    query(`${selectSessions} WHERE ${where} ORDER BY updated_ms DESC, id DESC LIMIT ?`, [
      ...conditions.flatMap(([, values]) => values),
      page.limit + 1,
    ]),
  );
  const { shown, next } = cut(
    rows.map((row) => toKnown(row).record),
    page,
    ({ updatedMs, id }) => ({ at: updatedMs, id }),
  );
  return toPage(windowed, shown.map(toSession), next);
}

function checkOrigin(origin: string): void {
  if (origins.some((each) => each === origin)) return;
  throw refuseWith(
    "invalid_parameter",
    "origin is none of those that there are",
    `give one of ${origins.join(", ")}`,
  );
}

const searched = ["id", "agent", "model", "task", "workspace_path", "context_json"] as const;

const hasWord = `(${searched
  .map((column) => `LOWER(COALESCE(${column}, '')) LIKE ? ESCAPE '~'`)
  .join(" OR ")})`;

/** Every word must be somewhere. Beyond eight words no one is searching. */
function wordsOf(search: string | undefined): readonly string[] {
  const words = (search ?? "")
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  if (words.length > 8) {
    throw refuseWith("invalid_parameter", "search has more than eight words", "give fewer");
  }
  return words.map((word) => `%${word.replaceAll(/[~%_]/g, "~$&")}%`);
}

function toSession(record: SessionRecord): Readonly<Record<string, unknown>> {
  const { kind, clientSession } = toConversationFacts(record.contextJson);
  return {
    session: record.id,
    origin: record.origin,
    agent: record.agent,
    kind: typeof kind === "string" ? kind : record.role,
    client_session: typeof clientSession === "string" ? clientSession : null,
    model: record.model,
    provider: record.provider,
    parent_session: record.parent?.sessionId ?? null,
    task: record.task,
    workspace: record.workspacePath,
    status: record.status,
    turn_count: record.turnCount,
    cost_usd: toUsdText(record.costPicoUsd),
    created_at: toIso(record.createdMs),
    updated_at: toIso(record.updatedMs),
  };
}

export async function needSession(query: Snapshot["query"], id: string): Promise<SessionRecord> {
  const [row] = await query(`${selectSessions} WHERE id = ?`, [id]);
  if (row !== undefined) return toKnown(row).record;
  throw refuseWith(
    "session_not_found",
    "there is no such session",
    "list them: /strata/v1/sessions",
  );
}

async function readSession(
  { path: { session: id = "" } }: Asked,
  { database, catalogue }: Source,
): Promise<Found> {
  return database.snapshot(async ({ query }) => {
    const record = await needSession(query, id);
    const [counted] = await query(
      `SELECT (SELECT COUNT(*) FROM calls c WHERE c.session_id = ?) AS call_count,
        (SELECT COUNT(*) FROM events e WHERE e.session_id = ? AND e.type = 'cache.miss') AS miss_count,
        (SELECT COUNT(*) FROM compactions_v1 f WHERE f.session_id = ?) AS compaction_count`,
      [id, id, id],
    );
    const started = await query(
      "SELECT id FROM sessions WHERE parent_session_id = ? ORDER BY created_ms, id LIMIT 1000",
      [id],
    );
    const [latest] = await query(
      `SELECT ${selected("calls", "c")} FROM calls c WHERE c.session_id = ? ORDER BY c.started_ms DESC, c.number DESC LIMIT 1`,
      [id],
    );
    const data = {
      ...toSession(record),
      call_count: integer(counted ?? {}, "call_count"),
      miss_count: integer(counted ?? {}, "miss_count"),
      compaction_count: integer(counted ?? {}, "compaction_count"),
      sub_sessions: started.map((row) => textOf(row, "id")),
      window_tokens: findModel(record.model, catalogue)?.facts.windowTokens ?? null,
      latest_call: latest === undefined ? null : toCall(latest),
    };
    return { body: { data }, isClosed: false };
  });
}
