// Sums of calls, calls that kept a cache warm, and summaries in a window, by group.
import type { ResultRow } from "../edge/stores/sql/database.ts";
import { integer } from "../edge/stores/sql/read-row.ts";
import type { Label, LedgerSnapshot, Question } from "./analysis.ts";
import { countOf, sumSql, tokensOf, tokenSums, unpricedSql, type TokenSums } from "./figures.ts";
import { moneyOf, moneySums } from "../edge/stores/sql/sums.ts";
import { fromCalls, fromCompactions, readByGroup, type GroupKey } from "./group-keys.ts";

export interface Spending {
  /** Calls of turns and calls that the gateway saw, like the tokens and costs below. */
  readonly callCount: number;
  /** Turns that began in the window. */
  readonly turnCount: number;
  readonly tokens: TokenSums;
  readonly callsPicoUsd: bigint;
  /** Cost of the calls that failed or were cut off. */
  readonly failedPicoUsd: bigint;
  readonly unpricedCount: number;
  readonly firstMs: number | null;
  readonly lastMs: number | null;
  /** Calls that only kept a cache warm. */
  readonly warm: { readonly count: number; readonly picoUsd: bigint };
  readonly summaries: {
    readonly count: number;
    readonly inputTokens: number;
    readonly outputTokens: number;
    readonly picoUsd: bigint;
  };
}

export async function readSpending(
  ledger: LedgerSnapshot,
  question: Question,
): Promise<ReadonlyMap<Label, Spending>> {
  const all = await readByGroup(ledger, question, callsSql);
  const isWarm = ([, row]: (typeof all)[number]): boolean => integer(row, "is_warm") === 1;
  const calls = new Map(all.filter((each) => !isWarm(each)));
  const warm = new Map(all.filter(isWarm));
  const summaries = new Map(await readByGroup(ledger, question, summariesSql));
  return new Map(
    [...calls.keys(), ...warm.keys(), ...summaries.keys()].map((label) => [
      label,
      toSpending(calls.get(label), warm.get(label), summaries.get(label)),
    ]),
  );
}

function callsSql(key: GroupKey): string {
  return `SELECT ${key.calls} AS grp, CASE WHEN c.kind IN ('warm', 'stored') THEN 1 ELSE 0 END AS is_warm, COUNT(*) AS call_count, ${sumSql("CASE WHEN c.number = 1 AND c.kind = 'turn' THEN 1 END", "turn_count")}, ${tokenSums},
      ${moneySums("c.cost_pico_usd", "cost")},
      ${moneySums("CASE WHEN c.status <> 'complete' THEN c.cost_pico_usd END", "failed")},
      ${sumSql(unpricedSql, "unpriced")},
      MIN(c.started_ms) AS first_ms, MAX(c.started_ms) AS last_ms
      ${fromCalls(key)} GROUP BY 1, 2`;
}

/** Leaves out compactions without a model call. */
function summariesSql(key: GroupKey): string {
  return `SELECT ${key.compactions} AS grp, COUNT(*) AS compaction_count, ${sumSql("f.input_tokens", "input")}, ${sumSql("f.output_tokens", "output")},
      ${moneySums("f.cost_pico_usd", "cost")}
      ${fromCompactions(key)} AND (f.cost_pico_usd > 0 OR f.input_tokens > 0) GROUP BY 1`;
}

function toSpending(
  calls: ResultRow | undefined,
  warm: ResultRow | undefined,
  summaries: ResultRow | undefined,
): Spending {
  return {
    callCount: countOf(calls, "call_count"),
    turnCount: countOf(calls, "turn_count"),
    tokens: tokensOf(calls),
    callsPicoUsd: moneyOf(calls, "cost"),
    failedPicoUsd: moneyOf(calls, "failed"),
    unpricedCount: countOf(calls, "unpriced"),
    firstMs: calls === undefined ? null : integer(calls, "first_ms"),
    lastMs: calls === undefined ? null : integer(calls, "last_ms"),
    warm: { count: countOf(warm, "call_count"), picoUsd: moneyOf(warm, "cost") },
    summaries: {
      count: countOf(summaries, "compaction_count"),
      inputTokens: countOf(summaries, "input"),
      outputTokens: countOf(summaries, "output"),
      picoUsd: moneyOf(summaries, "cost"),
    },
  };
}

/** Everything that was paid. */
export function totalOf({ callsPicoUsd, warm, summaries }: Spending): bigint {
  return callsPicoUsd + warm.picoUsd + summaries.picoUsd;
}
