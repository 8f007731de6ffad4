// What was lost and what was shortened: misses one by one, and compactions.
import { toUsdText } from "../../analytics/figures.ts";
import { toIso } from "../../analytics/time-window.ts";
import { adviseOn, missCauses } from "../../core/diagnosis/explanation.ts";
import { countIn, fieldsOf, textIn, type Fields } from "../../core/message/fields.ts";
import {
  compactionColumns,
  toCompaction,
} from "../../edge/stores/ledger/compactions/compaction-rows.ts";
import type { ResultRow } from "../../edge/stores/sql/database.ts";
import { integer, readAs, text as textOf, textOrNull } from "../../edge/stores/sql/read-row.ts";
import { refuseWith } from "../answer/api-error.ts";
import { pageOf } from "./envelope.ts";
import { cut, parsePage, toPage, windowOf } from "./paging.ts";
import type { Asked, Found, Route, Source } from "./route.ts";
import { count, moment, number, object, orNull, text, usd } from "./schema.ts";

const causes = missCauses.filter((cause) => cause !== "no miss");

const listErrors = ["invalid_time_window", "invalid_limit", "invalid_cursor"] as const;

export const lossRoutes: readonly Route[] = [
  {
    name: "miss_list",
    method: "GET",
    path: "/misses",
    summary: "Misses one by one, the latest first, each with what would have avoided it",
    query: ["from", "to", "session", "cause", "limit", "cursor"],
    values: { cause: causes },
    answer: pageOf(
      object({
        at: moment("in UTC"),
        session: text("its session or conversation"),
        turn: orNull(text("null outside of turns")),
        call: orNull(text("its name in its session; null for calls of turns")),
        model: orNull(text("null if it is not known any more")),
        cause: text("why less was read than could have been"),
        detail: orNull(text("such as `tool choice: auto → any`")),
        section: orNull(text("the first block that differs, or the last that was not read")),
        tier: orNull(text("its tier")),
        block: orNull(count("its number in the prompt, from 0")),
        byte: orNull(count("the first byte of it that differs")),
        expected_read_tokens: count("what could have been read"),
        reported_read_tokens: count("what was read"),
        lost_tokens: count("the difference"),
        lost_cost_usd: orNull(text("dollars over a read, exact; null if the price is unknown")),
        advice: text("what would have avoided it"),
      }),
    ),
    errors: listErrors,
    example: "/misses?from=24h&limit=20",
    read: listMisses,
  },
  {
    name: "compaction_list",
    method: "GET",
    path: "/compactions",
    summary: "Compactions one by one, the latest first",
    query: ["from", "to", "session", "limit", "cursor"],
    answer: pageOf(
      object({
        at: moment("in UTC"),
        session: text("its session"),
        turn: text("the turn that stands for what was compacted"),
        kind: text("summary, sliding_window or selective"),
        trigger: text("what made it due"),
        model: text("of the summary"),
        turns_summarized: count("turns that it hides"),
        tokens_before: count("of the prompt"),
        tokens_after: count("of the prompt"),
        summary_tokens: count("of the notes"),
        cost_usd: usd("of the summary"),
        duration_ms: number("of the summary"),
      }),
    ),
    errors: listErrors,
    example: "/compactions?from=30d",
    read: listCompactions,
  },
];

async function listMisses(asked: Asked, { database, nowMs }: Source): Promise<Found> {
  const { session, cause } = asked.query;
  const windowed = windowOf(asked, nowMs);
  const page = parsePage(asked.query);
  const { startMs, endMs } = windowed.window;
  const conditions: [string, readonly (string | number)[]][] = [
    ["e.timestamp_us >= ? AND e.timestamp_us < ?", [startMs * 1000, endMs * 1000]],
  ];
  if (session !== undefined) conditions.push(["e.session_id = ?", [session]]);
  if (cause !== undefined) {
    checkCause(cause);
    // As the payload spells it.
    conditions.push(["e.payload_json LIKE ?", [`%"cause":${JSON.stringify(cause)}%`]]);
  }
  if (page.after !== null) {
    conditions.push(["(e.timestamp_us, e.id) < (?, ?)", [page.after.at, page.after.id]]);
  }
  const rows = await database.snapshot(({ query }) =>
    query(
      `SELECT e.id, e.timestamp_us, e.session_id, e.turn_id, e.payload_json, t.model FROM events e LEFT JOIN turns t ON t.id = e.turn_id
      WHERE e.type = 'cache.miss' AND ${conditions.map(([sql]) => sql).join(" AND ")} ORDER BY e.timestamp_us DESC, e.id DESC LIMIT ?`,
      [...conditions.flatMap(([, values]) => values), page.limit + 1],
    ),
  );
  const { shown, next } = cut(rows, page, (row) => ({
    at: integer(row, "timestamp_us"),
    id: textOf(row, "id"),
  }));
  return toPage(windowed, shown.map(toMiss), next);
}

function checkCause(cause: string): void {
  if (causes.some((each) => each === cause)) return;
  throw refuseWith(
    "invalid_parameter",
    "there is no such cause",
    `give one of ${causes.join(", ")}`,
  );
}

function toMiss(row: ResultRow): object {
  const payload: Fields = fieldsOf(readAs(row, "payload_json", JSON.parse));
  const detail = textIn(payload, "detail") ?? null;
  const section = textIn(payload, "block_label") ?? null;
  const cause = missCauses.find((each) => each === payload["cause"]) ?? "no miss";
  return {
    at: toIso(Math.floor(integer(row, "timestamp_us") / 1000)),
    session: textOf(row, "session_id"),
    turn: textOrNull(row, "turn_id"),
    call: textIn(payload, "call_id") ?? null,
    model: textOrNull(row, "model") ?? textIn(payload, "model") ?? null,
    cause,
    detail,
    section,
    tier: textIn(payload, "block_tier") ?? null,
    block: countIn(payload, "block_index") ?? null,
    byte: countIn(payload, "block_byte_offset") ?? null,
    expected_read_tokens: countIn(payload, "expected_read_tokens") ?? 0,
    reported_read_tokens: countIn(payload, "reported_read_tokens") ?? 0,
    lost_tokens: countIn(payload, "lost_tokens") ?? 0,
    lost_cost_usd: textIn(payload, "lost_cost_usd") ?? null,
    advice:
      cause === "lifetime expired"
        ? "The pause outlived the entry: use a longer lifetime for the part before it, or repeat the prefix in time."
        : adviseOn(cause, { gapMs: 0, minimumTokens: null, isBestEffort: false, section, detail }),
  };
}

async function listCompactions(asked: Asked, { database, nowMs }: Source): Promise<Found> {
  const { session } = asked.query;
  const windowed = windowOf(asked, nowMs);
  const page = parsePage(asked.query);
  const { startMs, endMs } = windowed.window;
  const own = session === undefined ? "" : " AND c.session_id = ?";
  const after = page.after === null ? "" : " AND (c.compacted_at, c.turn_id) < (?, ?)";
  const rows = await database.snapshot(({ query }) =>
    query(
      `SELECT ${compactionColumns} FROM compactions_v1 c WHERE c.compacted_at >= ? AND c.compacted_at < ?${own}${after}
      ORDER BY c.compacted_at DESC, c.turn_id DESC LIMIT ?`,
      [
        startMs,
        endMs,
        ...(session === undefined ? [] : [session]),
        ...(page.after === null ? [] : [page.after.at, page.after.id]),
        page.limit + 1,
      ],
    ),
  );
  const { shown, next } = cut(rows, page, (row) => ({
    at: integer(row, "compacted_at"),
    id: textOf(row, "turn_id"),
  }));
  const data = shown.map(toCompaction).map((each) => ({
    at: toIso(each.compactedMs),
    session: each.sessionId,
    turn: each.turnId,
    kind: each.kind,
    trigger: each.trigger,
    model: each.model,
    turns_summarized: each.turnsSummarized,
    tokens_before: each.tokensBefore,
    tokens_after: each.tokensAfter,
    summary_tokens: each.summaryTokens,
    cost_usd: toUsdText(each.costPicoUsd),
    duration_ms: each.durationMs,
  }));
  return toPage(windowed, data, next);
}
