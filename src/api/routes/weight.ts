// Which blocks, tools and sections cost most to carry: what to clear, shorten or load later.
import { toUsdText } from "../../analytics/figures.ts";
import { toIso, type TimeWindow } from "../../analytics/time-window.ts";
import type { ConversationBlock } from "../../core/ledger/gateway-call.ts";
import { promptTokens } from "../../core/message/usage.ts";
import type { Catalogue } from "../../core/models/catalogue.ts";
import { findModel } from "../../core/models/resolve-model.ts";
import { ratesAt } from "../../core/models/prices.ts";
import { toBlock } from "../../edge/stores/ledger/gateway/gateway-rows.ts";
import { toUsage } from "../../edge/stores/ledger/turns/call-rows.ts";
import type { ResultRow, Snapshot } from "../../edge/stores/sql/database.ts";
import { integer, text as textOf } from "../../edge/stores/sql/read-row.ts";
import { refuse } from "../../analytics/analytics-error.ts";
import { weighBlocks, type CarriedCall, type Weight } from "../weight/weigh-blocks.ts";
import { parsePage, windowOf } from "./paging.ts";
import type { Asked, Found, Route, Source } from "./route.ts";
import { count, list, moment, object, text, usd } from "./schema.ts";

const groups = ["section", "tier", "kind", "role", "session", "block"] as const;

/** More would take seconds. */
const conversationsMax = 500;

export const weightRoutes: readonly Route[] = [
  {
    name: "weight",
    method: "GET",
    path: "/weight",
    isSlow: true,
    summary:
      "What parts of prompts cost to carry over the calls of a time: tokens × calls × price, the dearest first. Of conversations that the gateway saw",
    query: ["from", "to", "group_by", "session", "limit"],
    values: { group_by: groups },
    answer: object({
      window: object({ start: moment("included"), end: moment("not included") }),
      data: list(
        object({
          group: text(
            "a section such as `tool Bash`, a tier, a kind, a role, a session, or the hash of a block",
          ),
          section: text("of its latest block"),
          session: text("of its latest block"),
          block_count: count("different blocks"),
          carried_count: count("how often one of them was sent"),
          carried_tokens: count("tokens × calls, as billed"),
          cost_usd: usd("of carrying them, at list prices of that time"),
        }),
        "the dearest first",
      ),
      left_out_count: count("rows beyond the limit"),
      notes: list(text("a sentence"), "what limits the figures, in words"),
    }),
    errors: ["invalid_time_window", "invalid_group_by", "invalid_limit"],
    example: "/weight?from=24h&group_by=section",
    read: readWeight,
  },
];

interface Weighed extends Weight {
  section: string;
  session: string;
}

async function readWeight(asked: Asked, { database, catalogue, nowMs }: Source): Promise<Found> {
  const { group_by: wanted = "section", session } = asked.query;
  const groupBy = parseGroup(wanted);
  const { window, isClosed } = windowOf(asked, nowMs);
  const { startMs, endMs } = window;
  const { limit } = parsePage(asked.query);
  const weights = new Map<string, Weighed>();
  const billOf = createBilling(window, catalogue);
  let leftOut = 0;
  await database.snapshot(async ({ query }) => {
    const own = session === undefined ? "" : " AND c.session_id = ?";
    const rows = await query(
      `SELECT c.session_id, MAX(c.started_ms) AS latest_ms FROM calls c WHERE c.kind = 'gateway' AND c.started_ms >= ? AND c.started_ms < ?${own}
      GROUP BY c.session_id ORDER BY latest_ms DESC`,
      [startMs, endMs, ...(session === undefined ? [] : [session])],
    );
    leftOut = Math.max(0, rows.length - conversationsMax);
    for (const row of rows.slice(0, conversationsMax)) {
      const id = textOf(row, "session_id");
      const calls = (await readCarried(query, id)).map(({ call, blocks }): CarriedCall => ({
        keptBlocks: integer(call, "kept_blocks"),
        addedBlocks: blocks,
        bill: billOf.bill(call),
      }));
      weighBlocks(calls, (block) => weightIn(weights, groupOf(block, id, groupBy), block, id));
    }
  });
  const ranked = [...weights].toSorted(([, one], [, other]) =>
    one.picoUsd > other.picoUsd ? -1 : 1,
  );
  const data = ranked.slice(0, limit).map(([group, weight]) => toRow(group, weight));
  const notes = [
    ...(leftOut > 0
      ? [`${leftOut} older conversations of this time are not weighed; ask for a shorter time`]
      : []),
    ...(billOf.unpriced() > 0
      ? [`${billOf.unpriced()} calls have no known price and are not weighed`]
      : []),
  ];
  const ends = { start: toIso(startMs), end: toIso(endMs) };
  return {
    body: { window: ends, data, left_out_count: ranked.length - data.length, notes },
    isClosed,
  };
}

type GroupName = (typeof groups)[number];

function parseGroup(wanted: string): GroupName {
  const found = groups.find((each) => each === wanted);
  if (found !== undefined) return found;
  throw refuse(
    "invalid_group_by",
    "rows cannot be grouped by that",
    `give one of ${groups.join(", ")}`,
  );
}

/** Prices calls of the window; others bring blocks and pay nothing here. */
function createBilling(
  { startMs, endMs }: TimeWindow,
  catalogue: Catalogue,
): { bill(call: ResultRow): CarriedCall["bill"]; unpriced(): number } {
  let unpriced = 0;
  return {
    unpriced: () => unpriced,
    bill: (call) => {
      const at = integer(call, "started_ms");
      if (at < startMs || at >= endMs || call["uncached_tokens"] === null) return null;
      const usage = toUsage(call);
      const prices = findModel(textOf(call, "model"), catalogue)?.facts.prices ?? null;
      const applied =
        prices?.kind === "priced" ? ratesAt(prices.rows, at, promptTokens(usage)) : null;
      if (applied !== null) return { usage, rates: applied.rates };
      unpriced += 1;
      return null;
    },
  };
}

function toRow(
  group: string,
  { section, session, blocks, carried, tokens, picoUsd }: Weighed,
): object {
  return {
    group,
    section,
    session,
    block_count: blocks,
    carried_count: carried,
    carried_tokens: tokens,
    cost_usd: toUsdText(picoUsd),
  };
}

/** The calls before the window, too: they brought blocks that later ones carry. */
async function readCarried(
  query: Snapshot["query"],
  session: string,
): Promise<readonly { readonly call: ResultRow; readonly blocks: readonly ConversationBlock[] }[]> {
  const calls = await query(
    `SELECT c.id, c.started_ms, c.model, c.kept_blocks, c.uncached_tokens, c.read_tokens, c.write_5m_tokens, c.write_30m_tokens, c.write_1h_tokens,
      c.write_12h_tokens, c.write_24h_tokens, c.output_tokens, c.reasoning_tokens
    FROM calls c WHERE c.kind = 'gateway' AND c.session_id = ? ORDER BY c.number, c.started_ms, c.id`,
    [session],
  );
  const rows = await query(
    "SELECT call_id, hash, tier, kind, role, section, tokens FROM conversation_blocks WHERE session_id = ? ORDER BY call_id, idx",
    [session],
  );
  const blocks = Map.groupBy(rows, (row) => textOf(row, "call_id"));
  return calls.map((call) => ({
    call,
    blocks: (blocks.get(textOf(call, "id")) ?? []).map(toBlock),
  }));
}

function groupOf(block: ConversationBlock, session: string, by: GroupName): string {
  if (by === "session") return session;
  return by === "block" ? block.hash : block[by];
}

function weightIn(
  weights: Map<string, Weighed>,
  group: string,
  { section }: ConversationBlock,
  session: string,
): Weighed {
  const known = weights.get(group);
  if (known !== undefined) {
    known.section = section;
    known.session = session;
    return known;
  }
  const made = { blocks: 0, carried: 0, tokens: 0, picoUsd: 0n, section, session };
  weights.set(group, made);
  return made;
}
