// What misses and the tiers of prompts add up to. Both are inside JSON texts.
import { attributeUsage } from "../../../core/cache/tier-usage.ts";
import { fromOutcomeText } from "../../../core/ledger/call-text.ts";
import { fieldsOf } from "../../../core/message/fields.ts";
import { noUsage } from "../../../core/message/usage.ts";
import { parseUsdText } from "../../../core/models/pico-usd.ts";
import type { ResultRow } from "../sql/database.ts";
import { integer, readAs, text, textOrNull } from "../sql/read-row.ts";
import type { Merge } from "./cells.ts";
import type { Dim, Fact, FactColumn, FactRow } from "./fact.ts";
import { writtenSql } from "./written-sql.ts";

const inJson: Dim = { sql: [] };

function columnsOf(merges: Readonly<Record<string, Merge>>): Readonly<Record<string, FactColumn>> {
  return Object.fromEntries(
    Object.entries(merges).map(([name, merge]) => [name, { merge, sql: "", value: "" }]),
  );
}

const misses: Fact = {
  name: "misses",
  rows: "misses",
  time: "(e.timestamp_us / 1000)",
  dims: { session: inJson, cause: inJson, section: inJson, tier: inJson, model: inJson },
  columns: columnsOf({
    miss_count: "sum",
    expected: "sum",
    reported: "sum",
    lost: "sum",
    cost_0: "sum",
    cost_1: "sum",
    unpriced: "sum",
    agreed: "sum",
    differed: "sum",
    most_lost: "max",
    // The first of those that lost most, by its place among all events.
    costliest: { with: "most_lost" },
  }),
  from: () =>
    "FROM events e LEFT JOIN turns t ON t.id = e.turn_id WHERE e.type = 'cache.miss' AND e.timestamp_us >= CAST(? AS BIGINT) * 1000 AND e.timestamp_us < CAST(? AS BIGINT) * 1000",
  own: {
    select: "e.position, e.session_id, t.model, e.payload_json",
    toRows: (row) => [toMiss(row)],
  },
};

/** Tolerant: an older or newer version may have written it. */
function toMiss(row: ResultRow): FactRow {
  const payload = fieldsOf(JSON.parse(text(row, "payload_json")));
  const textIn = (name: string): string | null => {
    const value = payload[name];
    return typeof value === "string" ? value : null;
  };
  const numberIn = (name: string): number => {
    const value = payload[name];
    return typeof value === "number" && Number.isFinite(value) ? value : 0;
  };
  const cost = parseUsdText(payload["lost_cost_usd"]);
  const agreement = textIn("diagnosis_agreement");
  return {
    dims: [
      text(row, "session_id"),
      textIn("cause"),
      textIn("block_label"),
      textIn("block_tier"),
      textIn("model") ?? textOrNull(row, "model"),
    ],
    columns: [
      1,
      numberIn("expected_read_tokens"),
      numberIn("reported_read_tokens"),
      numberIn("lost_tokens"),
      Number((cost ?? 0n) / 1_000_000n),
      Number((cost ?? 0n) % 1_000_000n),
      cost === null ? 1 : 0,
      agreement === "agrees" ? 1 : 0,
      agreement === "differs" ? 1 : 0,
      numberIn("lost_tokens"),
      integer(row, "position"),
    ],
  };
}

/** The tier is null for calls that were recorded without their tiers. */
const tiers: Fact = {
  name: "tiers",
  rows: "tiers",
  time: "c.started_ms",
  only: "c.uncached_tokens IS NOT NULL",
  keySql: "c.gateway_key",
  dims: { tier: inJson },
  columns: columnsOf({ uncached: "sum", read_tokens: "sum", written: "sum", call_count: "sum" }),
  from: () => "FROM calls c WHERE c.started_ms >= ? AND c.started_ms < ?",
  own: {
    select: `c.uncached_tokens, c.read_tokens, ${writtenSql} AS written, c.outcome_json`,
    toRows: toTiers,
  },
};

const unknownTiers: readonly FactRow[] = [{ dims: [null], columns: [0, 0, 0, 1] }];

/** A bill spread over the tiers of its prompt, which is read and written from its start. */
function toTiers(row: ResultRow): readonly FactRow[] {
  if (!text(row, "outcome_json").includes('"tiers"')) return unknownTiers;
  const { tiers: counted } = readAs(row, "outcome_json", fromOutcomeText);
  if (counted === undefined) return unknownTiers;
  const usage = {
    ...noUsage,
    uncachedTokens: integer(row, "uncached_tokens"),
    cacheReadTokens: integer(row, "read_tokens"),
    cacheWriteTokens: { "5m": integer(row, "written") },
  };
  return attributeUsage(counted, usage).map(
    ({ tier, uncachedTokens, readTokens, writtenTokens }) => ({
      dims: [tier],
      columns: [uncachedTokens, readTokens, writtenTokens, 1],
    }),
  );
}

export const jsonFacts: Readonly<Record<"misses" | "tiers", Fact>> = { misses, tiers };
