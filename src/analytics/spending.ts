// Sums of calls and summaries in a window, by group.
import type { ResultRow } from "../edge/stores/sql/database.ts";
import { integer } from "../edge/stores/sql/read-row.ts";
import type { Label, LedgerSnapshot, Question } from "./analysis.ts";
import { countOf, sumSql, tokensOf, tokenSums, unpricedSql, type TokenSums } from "./figures.ts";
import { moneyOf, moneySums } from "../edge/stores/sql/sums.ts";
import { fromCalls, fromCompactions, readByGroup, type GroupKey } from "./group-keys.ts";

export interface Spending {
  readonly callCount: number;
  /** Turns that began in the window. */
  readonly turnCount: number;
  readonly tokens: TokenSums;
  /** Cost of all calls. */
  readonly callsPicoUsd: bigint;
  /** Cost of the calls that failed or were cut off. */
  readonly failedPicoUsd: bigint;
  readonly unpricedCount: number;
  readonly firstMs: number | null;
  readonly lastMs: number | null;
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
  const calls = new Map(await readByGroup(ledger, question, callsSql));
  const summaries = new Map(await readByGroup(ledger, question, summariesSql));
  return new Map(
    [...calls.keys(), ...summaries.keys()].map((label) => [
      label,
      toSpending(calls.get(label), summaries.get(label)),
    ]),
  );
}

function callsSql(key: GroupKey): string {
  return `SELECT ${key.calls} AS grp, COUNT(*) AS call_count, ${sumSql("CASE WHEN c.number = 1 THEN 1 END", "turn_count")}, ${tokenSums},
      ${moneySums("c.cost_pico_usd", "cost")},
      ${moneySums("CASE WHEN c.status <> 'complete' THEN c.cost_pico_usd END", "failed")},
      ${sumSql(unpricedSql, "unpriced")},
      MIN(c.started_ms) AS first_ms, MAX(c.started_ms) AS last_ms
      ${fromCalls(key)} GROUP BY 1`;
}

/** Leaves out compactions without a model call. */
function summariesSql(key: GroupKey): string {
  return `SELECT ${key.folds} AS grp, COUNT(*) AS fold_count, ${sumSql("f.input_tokens", "input")}, ${sumSql("f.output_tokens", "output")},
      ${moneySums("f.cost_pico_usd", "cost")}
      ${fromCompactions(key)} AND (f.cost_pico_usd > 0 OR f.input_tokens > 0) GROUP BY 1`;
}

function toSpending(calls: ResultRow | undefined, summaries: ResultRow | undefined): Spending {
  return {
    callCount: countOf(calls, "call_count"),
    turnCount: countOf(calls, "turn_count"),
    tokens: tokensOf(calls),
    callsPicoUsd: moneyOf(calls, "cost"),
    failedPicoUsd: moneyOf(calls, "failed"),
    unpricedCount: countOf(calls, "unpriced"),
    firstMs: calls === undefined ? null : integer(calls, "first_ms"),
    lastMs: calls === undefined ? null : integer(calls, "last_ms"),
    summaries: {
      count: countOf(summaries, "fold_count"),
      inputTokens: countOf(summaries, "input"),
      outputTokens: countOf(summaries, "output"),
      picoUsd: moneyOf(summaries, "cost"),
    },
  };
}
