// What calls add up to: for costs, for prices, for the cache, and for how they ended.
import { hashContent } from "../../../core/hash.ts";
import { lifetimes } from "../../../core/message/usage.ts";
import { writeColumns } from "../ledger/turns/call-rows.ts";
import { writtenSql } from "./written-sql.ts";
import { fromOutcomeText } from "../../../core/ledger/call-text.ts";
import { countOfRows, moneyColumns, sumOf, type Dim, type Fact } from "./fact.ts";
import { alikeSql, isWarmSql, storedBands, type PriceBands } from "./price-bands.ts";

const callDims: Readonly<Record<string, Dim>> = {
  model: { sql: ["c.model"] },
  provider: { sql: ["c.provider"] },
  session: { sql: ["c.session_id"] },
  agent: { sql: ["s.agent"], usesSession: true },
  parent_session: { sql: ["s.parent_session_id"], usesSession: true },
  is_worker: {
    sql: ["CASE WHEN s.role IS NULL THEN NULL WHEN s.role = 'worker' THEN 'yes' ELSE 'no' END"],
    usesSession: true,
  },
  gateway_key: { sql: ["c.gateway_key"] },
  user: { sql: ["c.user_name"] },
  team: { sql: ["c.team_name"] },
  day: { sql: ["c.started_ms / 86400000"], isNumber: true },
  hour: { sql: ["c.started_ms / 3600000"], isNumber: true },
};

const ofCalls: Pick<Fact, "rows" | "time" | "from"> = {
  rows: "calls",
  time: "c.started_ms",
  from: (usesSession) =>
    `FROM calls c${usesSession ? " LEFT JOIN sessions s ON s.id = c.session_id" : ""} WHERE c.started_ms >= ? AND c.started_ms < ?`,
};

const calls: Fact = {
  name: "calls",
  ...ofCalls,
  dims: {
    ...callDims,
    is_warm: { sql: [`CASE WHEN ${isWarmSql} THEN 1 ELSE 0 END`], isNumber: true },
    alike: { sql: [alikeSql(writtenSql, storedBands)], isNumber: true },
  },
  columns: {
    call_count: countOfRows,
    turn_count: sumOf("CASE WHEN c.number = 1 AND c.kind = 'turn' THEN 1 END"),
    uncached: sumOf("c.uncached_tokens"),
    read_tokens: sumOf("c.read_tokens"),
    written: sumOf(writtenSql),
    ...Object.fromEntries(
      lifetimes.map((lifetime) => [`written_${lifetime}`, sumOf(`c.${writeColumns[lifetime]}`)]),
    ),
    output: sumOf("c.output_tokens + c.reasoning_tokens"),
    ...moneyColumns("c.cost_pico_usd", "cost"),
    ...moneyColumns("CASE WHEN c.status <> 'complete' THEN c.cost_pico_usd END", "failed"),
    unpriced: sumOf(
      "CASE WHEN c.cost_pico_usd IS NULL AND c.uncached_tokens IS NOT NULL THEN 1 END",
    ),
    first_ms: { merge: "min", sql: "MIN(c.started_ms)", value: "c.started_ms" },
    last_ms: { merge: "max", sql: "MAX(c.started_ms)", value: "c.started_ms" },
  },
};

/** Calls with attempts whose result was discarded. Matches the text that call-text.ts writes, and the index calls_discarded. */
const retried: Fact = {
  ...calls,
  name: "retried",
  only: `SUBSTR(c.outcome_json, 1, 15) = '{"discarded":[{'`,
};

/** More tokens than any prompt has. */
const tokensMax = 4_194_304;
/** Times that fit in one integer with tokens: those before 2039. */
const packedMsMax = 2_199_023_255_551;

/** When the session was compacted last before the call. */
const sinceSql =
  "COALESCE((SELECT MAX(f.compacted_at) FROM compactions_v1 f WHERE f.session_id = c.session_id AND f.compacted_at <= c.started_ms), 0)";

const packedSql = `(CASE WHEN c.started_ms < ${packedMsMax} THEN c.started_ms ELSE ${packedMsMax} END * ${tokensMax} + c.read_tokens)`;
const firstSql = `MIN${packedSql}`;

/**
 * Growing prefixes: a session on one model between two compactions. What its first call read was cached before. To find that
 * call in one pass, time and tokens are one number, time first. Calls that only kept a cache warm would count as hits.
 */
const prefixes: Fact = {
  name: "prefixes",
  ...ofCalls,
  only: `NOT ${isWarmSql}`,
  dims: {
    ...callDims,
    prefix: {
      sql: ["c.session_id", "c.model", sinceSql],
      isOpaque: true,
      // Hashed, so that no name of a deleted session stays.
      toName: (values) => hashContent(values.join("\n")),
    },
  },
  columns: {
    // The last of all where no call was billed.
    first_read: {
      merge: { with: "first_ms" },
      sql: `COALESCE(${firstSql} % ${tokensMax}, 0)`,
      value: `COALESCE(${packedSql} % ${tokensMax}, 0)`,
    },
    first_ms: {
      merge: "min",
      sql: `COALESCE(${firstSql} / ${tokensMax}, 9007199254740991)`,
      value: `COALESCE(${packedSql} / ${tokensMax}, 9007199254740991)`,
    },
    longest: {
      merge: "max",
      sql: `COALESCE(MAX(c.read_tokens + ${writtenSql}), 0)`,
      value: `COALESCE(c.read_tokens + ${writtenSql}, 0)`,
    },
  },
};

/** Rounds up to three digits, so that many calls give a few thousand values at most. 0 if the clock was set back. */
function roundedSql(ms: string): string {
  return `CASE WHEN ${ms} < 0 THEN 0 WHEN ${ms} < 1000 THEN ${ms} WHEN ${ms} < 10000 THEN (${ms} + 9) / 10 * 10 WHEN ${ms} < 100000 THEN (${ms} + 99) / 100 * 100 WHEN ${ms} < 60000000 THEN (${ms} + 999) / 1000 * 1000 ELSE 60000000 END`;
}

/** How calls ended, and how long those took that were complete. */
const endings: Fact = {
  name: "endings",
  ...ofCalls,
  order: "latency",
  dims: {
    ...callDims,
    status: { sql: ["c.status"] },
    /** Null for a call that is complete. */
    failure: {
      sql: ["CASE WHEN c.status <> 'complete' THEN c.outcome_json END"],
      toName: ([outcome]) => (typeof outcome === "string" ? failureIn(outcome) : null),
    },
    latency: {
      sql: [
        `CASE WHEN c.status = 'complete' THEN ${roundedSql("(c.ended_ms - c.started_ms)")} ELSE 0 END`,
      ],
      isNumber: true,
    },
  },
  columns: { call_count: countOfRows },
};

function failureIn(outcome: string): string {
  return fromOutcomeText(outcome).failure?.kind ?? "not told";
}

export const callFacts: Readonly<Record<"calls" | "retried" | "prefixes" | "endings", Fact>> = {
  calls,
  retried,
  prefixes,
  endings,
};

/** The same facts told apart by other price bands. No stored sums have these. */
export function withBands(fact: Fact, bands: PriceBands): Fact {
  return {
    ...fact,
    name: `${fact.name} in other bands`,
    dims: { ...fact.dims, alike: { sql: [alikeSql(writtenSql, bands)], isNumber: true } },
  };
}
