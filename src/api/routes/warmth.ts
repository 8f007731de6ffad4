// Which conversations a provider still keeps, until when, and what it costs to let them go cold.
import { toIso } from "../../analytics/time-window.ts";
import { promptTokens } from "../../core/message/usage.ts";
import type { Catalogue } from "../../core/models/catalogue.ts";
import { findModel } from "../../core/models/resolve-model.ts";
import { toUsage, usageColumns } from "../../edge/stores/ledger/turns/call-rows.ts";
import type { ResultRow, Snapshot } from "../../edge/stores/sql/database.ts";
import { integer, text as textOf, textOrNull } from "../../edge/stores/sql/read-row.ts";
import { usdOrNull } from "../shapes/call-shape.ts";
import { coldCostOf, keptAfter, saysHowLong, type KeptPart } from "../warmth/kept-parts.ts";
import { parsePage } from "./paging.ts";
import type { Asked, Found, Route, Source } from "./route.ts";
import { count, flag, list, moment, object, oneOf, orNull, text, usd } from "./schema.ts";

const hourMs = 3_600_000;
/** The longest lifetime, and an hour in which a loss is still news. */
const backMs = 25 * hourMs;
const sessionsMax = 500;
const callsPerSessionMax = 200;

export const warmthRoutes: readonly Route[] = [
  {
    name: "warmth",
    method: "GET",
    path: "/warmth",
    isSlow: true,
    summary:
      "Sessions and conversations whose cache is warm, or went cold within the last hour, the latest call first",
    query: ["session", "limit"],
    answer: object({
      at: moment("the time that the answer is about, in UTC"),
      data: list(
        object({
          session: text("its name"),
          origin: oneOf(["engine", "gateway"], "one of our own, or one that the gateway saw"),
          agent: text("the agent, or the program of the conversation"),
          parent_session: orNull(text("the session that started it")),
          model: text("of its latest call"),
          provider: text("who answered it"),
          last_call_at: moment("in UTC"),
          prompt_tokens: count("of that call, as billed"),
          is_warm: flag("some of it is kept"),
          warm_until: moment("when the last part of it goes cold, or went, in UTC"),
          kept_tokens: count("kept now; of a cold one, what was kept after its latest call"),
          cold_cost_usd: orNull(
            usd("what writing these again costs over reading them; null without a price"),
          ),
          kept: list(
            object({
              tokens: count("from the start of the prompt"),
              lifetime: orNull(text("such as 5m; null where the provider keeps unasked")),
              warm_until: moment("in UTC"),
            }),
            "what was kept after the latest call: the whole, then what outlives it",
          ),
        }),
        "the latest call first",
      ),
      left_out_count: count("rows beyond the limit"),
      notes: list(text("a sentence"), "what limits the figures, in words"),
    }),
    errors: ["invalid_limit"],
    example: "/warmth",
    read: readWarmth,
  },
];

async function readWarmth(
  { query: asked }: Asked,
  { database, catalogue, nowMs }: Source,
): Promise<Found> {
  const { limit } = parsePage(asked);
  const { sessions, calls, hasMore } = await database.snapshot(({ query }) =>
    readLatest(query, nowMs - backMs, asked.session ?? null),
  );
  const found = sessions.map((session) =>
    warmthOf(session, calls.get(textOf(session, "id")) ?? [], catalogue, nowMs),
  );
  const unknown = found.filter((each) => each === "unknown").length;
  const rows = found
    .filter((each) => each !== "unknown" && each !== "cold")
    .toSorted((one, other) => other.lastMs - one.lastMs);
  const notes = [
    "from what was billed: a provider may keep longer, and seldom shorter",
    ...(unknown === 0
      ? []
      : [`${unknown} sessions are on models for which no one says how long they keep`]),
    ...(hasMore ? [`only the ${sessionsMax} latest sessions of a day are looked at`] : []),
  ];
  const data = rows.slice(0, limit).map(({ row }) => row);
  return {
    body: { at: toIso(nowMs), data, left_out_count: rows.length - data.length, notes },
    isClosed: false,
  };
}

interface Latest {
  readonly sessions: readonly ResultRow[];
  /** By session, oldest first. */
  readonly calls: ReadonlyMap<string, readonly ResultRow[]>;
  readonly hasMore: boolean;
}

/** `session`: only that one; null for all. */
async function readLatest(
  query: Snapshot["query"],
  fromMs: number,
  session: string | null,
): Promise<Latest> {
  const only = session === null ? "" : " AND c.session_id = ?";
  const latest = await query(
    `SELECT c.session_id, MAX(c.started_ms) AS latest_ms FROM calls c WHERE c.started_ms >= ?${only}
    GROUP BY c.session_id ORDER BY latest_ms DESC, c.session_id LIMIT ?`,
    [fromMs, ...(session === null ? [] : [session]), sessionsMax + 1],
  );
  const ids = latest.slice(0, sessionsMax).map((row) => textOf(row, "session_id"));
  if (ids.length === 0) return { sessions: [], calls: new Map(), hasMore: false };
  const places = ids.map(() => "?").join(", ");
  const sessions = await query(
    `SELECT s.id, s.origin, s.agent, s.parent_session_id FROM sessions s WHERE s.id IN (${places})`,
    ids,
  );
  const calls = await query(
    `SELECT session_id, started_ms, model, provider, ${usageColumns.join(", ")} FROM (
      SELECT c.session_id, c.started_ms, c.number, c.model, c.provider, ${usageColumns.map((name) => `c.${name}`).join(", ")},
        ROW_NUMBER() OVER (PARTITION BY c.session_id ORDER BY c.started_ms DESC, c.number DESC) AS back
      FROM calls c WHERE c.session_id IN (${places}) AND c.started_ms >= ? AND c.uncached_tokens IS NOT NULL AND c.kind <> 'stored'
    ) AS known WHERE back <= ${callsPerSessionMax} ORDER BY session_id, started_ms, number`,
    [...ids, fromMs],
  );
  const hasMore = latest.length > sessionsMax;
  return { sessions, calls: Map.groupBy(calls, (row) => textOf(row, "session_id")), hasMore };
}

interface Warmth {
  readonly lastMs: number;
  readonly row: object;
}

function warmthOf(
  session: ResultRow,
  calls: readonly ResultRow[],
  catalogue: Catalogue,
  nowMs: number,
): Warmth | "unknown" | "cold" {
  const last = calls.at(-1);
  if (last === undefined) return "cold";
  const model = textOf(last, "model");
  const facts = findModel(model, catalogue)?.facts ?? null;
  if (facts === null || !saysHowLong(facts.cache)) return "unknown";
  // Each model has a cache of its own.
  const billed = calls
    .filter((row) => textOf(row, "model") === model)
    .map((row) => ({ startMs: integer(row, "started_ms"), usage: toUsage(row) }));
  const parts = keptAfter(billed, facts.cache);
  const untilMs = parts.at(-1)?.untilMs ?? 0;
  if (untilMs < nowMs - hourMs) return "cold";
  const isWarm = untilMs >= nowMs;
  const counted = isWarm ? parts.filter((part) => part.untilMs >= nowMs) : parts;
  const lastMs = integer(last, "started_ms");
  const row = {
    session: textOf(session, "id"),
    origin: textOf(session, "origin"),
    agent: textOf(session, "agent"),
    parent_session: textOrNull(session, "parent_session_id"),
    model,
    provider: textOf(last, "provider"),
    last_call_at: toIso(lastMs),
    prompt_tokens: promptTokens(toUsage(last)),
    is_warm: isWarm,
    warm_until: toIso(untilMs),
    kept_tokens: counted[0]?.tokens ?? 0,
    cold_cost_usd: usdOrNull(coldCostOf(counted, facts, nowMs)),
    kept: parts.map(toPart),
  };
  return { lastMs, row };
}

function toPart({ tokens, lifetime, untilMs }: KeptPart): object {
  return { tokens, lifetime, warm_until: toIso(untilMs) };
}
