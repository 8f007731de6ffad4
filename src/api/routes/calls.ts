// Calls: all of a time, those of a session with the blocks that each one brought, and one block by block.
import { toUsdText } from "../../analytics/figures.ts";
import type { CachePlan } from "../../core/cache/cache-plan.ts";
import type { ConversationBlock } from "../../core/ledger/gateway-call.ts";
import { toAnyCall, toBlock } from "../../edge/stores/ledger/gateway/gateway-rows.ts";
import { readPrompt } from "../../edge/stores/ledger/gateway/read-conversation.ts";
import type { ResultRow, Snapshot } from "../../edge/stores/sql/database.ts";
import { integer, text as textOf } from "../../edge/stores/sql/read-row.ts";
import { selected } from "../../edge/stores/sql/tables.ts";
import { ownCalls, type Access } from "../access/access.ts";
import { refuseWith } from "../answer/api-error.ts";
import { splitBlocks } from "../shapes/split-blocks.ts";
import { callMembers, toCall } from "../shapes/call-shape.ts";
import { readOwnBlocks } from "../shapes/own-blocks.ts";
import { one, pageOf } from "./envelope.ts";
import { cut, parsePage, toPage, windowOf, type Place } from "./paging.ts";
import type { Asked, Found, Route, Source } from "./route.ts";
import { needSession } from "./one-session.ts";
import { count, flag, list, object, orNull, text, usd, type Schema } from "./schema.ts";

const blockMembers: Readonly<Record<string, Schema>> = {
  hash: text(
    "of its bytes; the same content has the same hash. Empty for parts that are known by size only",
  ),
  tier: text("T0 tools to T5 volatile text"),
  kind: text("such as text, tool use, tool result"),
  role: text("who said it"),
  section: text("for people, such as `tool Bash` or `user message 12`"),
  tokens: count("by our count"),
};

const columnMembers: Readonly<Record<string, Schema>> = {
  ...callMembers,
  kept_blocks: orNull(
    count(
      "how many blocks of the call before it begins with; null: with all of them, and the reply",
    ),
  ),
  added_blocks: list(object(blockMembers), "the blocks after those"),
};

export const callRoutes: readonly Route[] = [
  {
    name: "call_list",
    method: "GET",
    path: "/calls",
    isForKeys: true,
    summary: "The calls of a time, the latest first",
    query: ["from", "to", "session", "model", "agent", "limit", "cursor"],
    answer: pageOf(object(callMembers)),
    errors: ["invalid_time_window", "invalid_limit", "invalid_cursor"],
    example: "/calls?from=1h&limit=20",
    read: listCalls,
  },
  {
    name: "session_calls",
    method: "GET",
    path: "/sessions/{session}/calls",
    isForKeys: true,
    summary:
      "The calls of one session, oldest first, each with the blocks that it brought: the columns of a cross-section",
    query: ["limit", "cursor"],
    answer: object({
      data: list(object(columnMembers), "one page"),
      next_cursor: orNull(text("for the next page; null after the last")),
    }),
    errors: ["session_not_found", "invalid_limit", "invalid_cursor"],
    example: "/sessions/build/calls",
    read: listColumns,
  },
  {
    name: "call",
    method: "GET",
    path: "/sessions/{session}/calls/{call}",
    isForKeys: true,
    summary:
      "One call block by block: what of each was read, written and paid plainly, markers, plan, verdict, and what other policies would have paid",
    query: [],
    answer: one(
      object({
        ...callMembers,
        unknown_blocks: count(
          "blocks at the beginning that are not known, because calls before are missing",
        ),
        blocks: list(
          object({
            ...blockMembers,
            read_tokens: count("scaled to the bill"),
            written_tokens: count("scaled to the bill"),
            fresh_tokens: count("paid at the plain price, scaled to the bill"),
          }),
          "the prompt from its start; empty without usage",
        ),
        markers: list(
          object({
            block: count("its place in the whole list"),
            lifetime: text("asked for"),
            slot: orNull(text("its purpose; null for a client's own")),
            reason: orNull(text("why it is there; null for a client's own")),
          }),
          "where the provider was asked to keep a prefix",
        ),
        expected_cost_usd: orNull(usd("of the prompt, by the plan; null without plan or price")),
        verdict: orNull(text("what the reply says about the plan; null without one")),
        refuted: list(text("a promise"), "promises of the provider that this reply refuted"),
        other_policies: list(
          object({ policy: text("its name"), cost_usd: usd("of this call's prompt") }),
          "by their own account of the conversation",
        ),
        notes: list(text("a sentence"), "what could not be read, was left out or corrected"),
        keeps_content: flag("false: the ledger keeps no text of this call's blocks"),
      }),
    ),
    errors: ["session_not_found", "call_not_found"],
    example: "/sessions/build/calls/turn-1.2",
    read: readCall,
  },
];

const placeOf = (row: ResultRow): Place => ({
  at: integer(row, "started_ms"),
  id: textOf(row, "entry_hash"),
});

async function listCalls(asked: Asked, { database, nowMs }: Source): Promise<Found> {
  const { session, model, agent } = asked.query;
  const windowed = windowOf(asked, nowMs);
  const page = parsePage(asked.query);
  const { startMs, endMs } = windowed.window;
  const conditions: [string, readonly (string | number)[]][] = [
    ["c.started_ms >= ? AND c.started_ms < ?", [startMs, endMs]],
  ];
  if (asked.access.kind === "key") conditions.push(["c.gateway_key = ?", [asked.access.name]]);
  if (session !== undefined) conditions.push(["c.session_id = ?", [session]]);
  if (model !== undefined) conditions.push(["c.model = ?", [model]]);
  if (agent !== undefined) {
    conditions.push(["c.session_id IN (SELECT id FROM sessions WHERE agent = ?)", [agent]]);
  }
  if (page.after !== null) {
    conditions.push(["(c.started_ms, c.entry_hash) < (?, ?)", [page.after.at, page.after.id]]);
  }
  const rows = await database.snapshot(({ query }) =>
    query(
      `SELECT ${selected("calls", "c")} FROM calls c WHERE ${conditions.map(([sql]) => sql).join(" AND ")} ORDER BY c.started_ms DESC, c.entry_hash DESC LIMIT ?`,
      [...conditions.flatMap(([, values]) => values), page.limit + 1],
    ),
  );
  const { shown, next } = cut(rows, page, placeOf);
  return toPage(windowed, shown.map(toCall), next);
}

async function listColumns(asked: Asked, { database }: Source): Promise<Found> {
  const { session = "" } = asked.path;
  const page = parsePage(asked.query);
  return database.snapshot(async ({ query }) => {
    await needSession(query, session, asked.access);
    const own = ownCalls(asked.access);
    const { at, id } = page.after ?? { at: -1, id: "" };
    const rows = await query(
      `SELECT ${selected("calls", "c")} FROM calls c WHERE c.session_id = ?${own.sql} AND (c.started_ms, c.entry_hash) > (?, ?)
      ORDER BY c.started_ms, c.entry_hash LIMIT ?`,
      [session, ...own.values, at, id, page.limit + 1],
    );
    const { shown, next } = cut(rows, page, placeOf);
    const seen = await readSeenBlocks(query, session, shown);
    const ofTurns = await readOwnBlocks(query, shown);
    const data = shown.map((row) => {
      const call = toCall(row);
      const added =
        row["turn_id"] === null ? seen.get(textOf(row, "id")) : ofTurns.get(String(call["call"]));
      const kept = row["kept_blocks"];
      return {
        ...call,
        kept_blocks: typeof kept === "number" ? kept : null,
        added_blocks: added ?? [],
      };
    });
    return { body: { data, next_cursor: next }, isClosed: false };
  });
}

/** By the call that brought them. */
async function readSeenBlocks(
  query: Snapshot["query"],
  session: string,
  calls: readonly ResultRow[],
): Promise<ReadonlyMap<string, readonly ConversationBlock[]>> {
  const ids = calls.flatMap((row) => (row["kind"] === "gateway" ? [textOf(row, "id")] : []));
  if (ids.length === 0) return new Map();
  const rows = await query(
    `SELECT call_id, hash, tier, kind, role, section, tokens FROM conversation_blocks WHERE session_id = ? AND call_id IN (${ids.map(() => "?").join(", ")}) ORDER BY call_id, idx`,
    [session, ...ids],
  );
  const byCall = Map.groupBy(rows, (row) => textOf(row, "call_id"));
  return new Map([...byCall].map(([id, each]) => [id, each.map(toBlock)]));
}

async function readCall(asked: Asked, { database }: Source): Promise<Found> {
  const { session = "", call: name = "" } = asked.path;
  return database.snapshot(async ({ query }) => {
    await needSession(query, session, asked.access);
    const row = await needCall(query, session, name, asked.access);
    const call = toAnyCall(row);
    const { unknownCount, blocks } = await promptOf(query, session, row);
    const data = {
      ...toCall(row),
      unknown_blocks: unknownCount,
      blocks: call.usage === null ? [] : splitBlocks(blocks, call.usage),
      ...("plan" in call ? ofPlan(call.plan) : noPlanned),
      ...("markers" in call ? { markers: call.markers.map(ofClient) } : {}),
      verdict: "verdict" in call ? (call.verdict?.kind ?? null) : null,
      refuted: "refuted" in call ? call.refuted : [],
      other_policies:
        "otherPolicies" in call
          ? call.otherPolicies.map(({ policy, costPicoUsd }) => ({
              policy,
              cost_usd: toUsdText(costPicoUsd),
            }))
          : [],
      notes: call.notes.map((note) => (typeof note === "string" ? note : note.detail)),
      keeps_content: row["kind"] === "turn",
    };
    return { body: { data }, isClosed: false };
  });
}

async function needCall(
  query: Snapshot["query"],
  session: string,
  name: string,
  access: Access,
): Promise<ResultRow> {
  const own = ownCalls(access);
  const columns = selected("calls", "c");
  const [lone] = await query(
    `SELECT ${columns} FROM calls c WHERE c.session_id = ? AND c.id = ? AND c.turn_id IS NULL${own.sql}`,
    [session, name, ...own.values],
  );
  if (lone !== undefined) return lone;
  const [, turn = "", number = ""] = /^(.*)\.(\d{1,9})$/s.exec(name) ?? [];
  const [ofTurn] = await query(
    `SELECT ${columns} FROM calls c WHERE c.session_id = ? AND c.turn_id = ? AND c.number = ?${own.sql}`,
    [session, turn, Number(number), ...own.values],
  );
  if (ofTurn !== undefined) return ofTurn;
  throw refuseWith(
    "call_not_found",
    "there is no such call in this session",
    "list them: /strata/v1/sessions/SESSION/calls",
  );
}

/** For our own sessions the ledger keeps how large each tier was, and each block of the call itself. */
async function promptOf(
  query: Snapshot["query"],
  session: string,
  row: ResultRow,
): Promise<{ readonly unknownCount: number; readonly blocks: readonly ConversationBlock[] }> {
  if (row["kind"] === "gateway")
    return readPrompt({ database: { query } }, session, textOf(row, "id"));
  const call = toAnyCall(row);
  const sizes = call.tiers ?? [];
  const blocks = sizes.map(([tier, tokens]): ConversationBlock => ({
    hash: "",
    tier,
    kind: "text",
    role: "system",
    section: `all of ${tier}`,
    tokens,
  }));
  return { unknownCount: 0, blocks };
}

const noPlanned = { markers: [], expected_cost_usd: null };

function ofPlan({ markers, expected }: CachePlan): object {
  const { costPicoUsd } = expected;
  return {
    markers: markers.map(({ block, lifetime, slot, reason }) => ({
      block,
      lifetime,
      slot,
      reason,
    })),
    expected_cost_usd: costPicoUsd === null ? null : toUsdText(costPicoUsd),
  };
}

function ofClient({
  block,
  lifetime,
}: {
  readonly block: number;
  readonly lifetime: string;
}): object {
  return { block, lifetime, slot: null, reason: null };
}
