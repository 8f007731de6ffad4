// Sessions and conversations: found by words, and one with what fills its window.
import { selectSessions, toKnown } from "../../edge/stores/ledger/sessions/session-rows.ts";
import { integer, text as textOf } from "../../edge/stores/sql/read-row.ts";
import type { Access } from "../access/access.ts";
import { refuseWith } from "../answer/api-error.ts";
import { callMembers } from "../shapes/call-shape.ts";
import { sessionMembers, toSessions } from "../shapes/session-shape.ts";
import { one, pageOf } from "./envelope.ts";
import { readSession } from "./one-session.ts";
import { cut, parsePage, toPage, windowOf } from "./paging.ts";
import type { Asked, Found, Route, Source } from "./route.ts";
import { count, list, object, orNull, text } from "./schema.ts";

const origins = ["all", "engine", "gateway"] as const;

export const sessionRoutes: readonly Route[] = [
  {
    name: "session_list",
    method: "GET",
    path: "/sessions",
    isForKeys: true,
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
    isForKeys: true,
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
  const { from, at, values } = sourceOf(asked.access, startMs, endMs);
  const conditions: [string, readonly (string | number)[]][] = [
    [`${at} >= ? AND ${at} < ?`, [startMs, endMs]],
  ];
  if (origin !== "all") conditions.push(["origin = ?", [origin]]);
  if (agent !== undefined) conditions.push(["agent = ?", [agent]]);
  if (parent !== undefined) conditions.push(["parent_session_id = ?", [parent]]);
  if (page.after !== null)
    conditions.push([`(${at}, id) < (?, ?)`, [page.after.at, page.after.id]]);
  for (const word of wordsOf(search)) conditions.push([hasWord, searched.map(() => word)]);
  const where = conditions.map(([sql]) => sql).join(" AND ");
  return database.snapshot(async ({ query }) => {
    const rows = await query(`${from} WHERE ${where} ORDER BY ${at} DESC, id DESC LIMIT ?`, [
      ...values,
      ...conditions.flatMap(([, each]) => each),
      page.limit + 1,
    ]);
    const { shown, next } = cut(rows, page, (row) => ({
      at: integer(row, at),
      id: textOf(row, "id"),
    }));
    const records = shown.map((row) => toKnown(row).record);
    return toPage(windowed, await toSessions(query, records, asked.access), next);
  });
}

interface SessionSource {
  readonly from: string;
  readonly values: readonly (string | number)[];
  /** The column of the time that a list is in the order of. */
  readonly at: string;
}

/** For a key: those in which it called within the time, by its latest call there. */
function sourceOf(access: Access, startMs: number, endMs: number): SessionSource {
  if (access.kind === "owner") return { from: selectSessions, values: [], at: "updated_ms" };
  const own =
    "SELECT c.session_id AS own_id, MAX(c.started_ms) AS own_ms FROM calls c WHERE c.gateway_key = ? AND c.started_ms >= ? AND c.started_ms < ? GROUP BY c.session_id";
  return {
    from: `SELECT known.*, own.own_ms FROM (${selectSessions}) AS known JOIN (${own}) AS own ON own.own_id = known.id`,
    values: [access.name, startMs, endMs],
    at: "own_ms",
  };
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
