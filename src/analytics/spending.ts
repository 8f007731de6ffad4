// Sums of calls and summaries in a window, by group.
import type { ResultRow } from "../edge/stores/sql/database.ts";
import { integer } from "../edge/stores/sql/read-row.ts";
import type { Label, LedgerSnapshot, Question } from "./analysis.ts";
import { moneyOf, moneySums, sumSql, tokensOf, tokenSums, type TokenSums } from "./figures.ts";
import { fromCalls, fromCompactions, readByGroup } from "./group-keys.ts";

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
  readonly summaries: SummarySpending;
}

export interface SummarySpending {
  readonly count: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly picoUsd: bigint;
}

export async function readSpending(
  ledger: LedgerSnapshot,
  question: Question,
): Promise<ReadonlyMap<Label, Spending>> {
  const calls = await readCalls(ledger, question);
  const summaries = await readSummaries(ledger, question);
  const found = new Map<Label, Spending>();
  for (const label of [...calls.keys(), ...summaries.keys()]) {
    found.set(label, {
      ...(calls.get(label) ?? noCalls),
      summaries: summaries.get(label) ?? noSummaries,
    });
  }
  return found;
}

type CallSpending = Omit<Spending, "summaries">;

async function readCalls(
  ledger: LedgerSnapshot,
  question: Question,
): Promise<ReadonlyMap<Label, CallSpending>> {
  const rows = await readByGroup(
    ledger,
    question,
    (
      key,
    ) => `SELECT ${key.calls} AS grp, COUNT(*) AS call_count, ${sumSql("CASE WHEN c.number = 1 THEN 1 END", "turn_count")}, ${tokenSums},
      ${moneySums("c.cost_pico_usd", "cost")},
      ${moneySums("CASE WHEN c.status <> 'complete' THEN c.cost_pico_usd END", "failed")},
      ${sumSql("CASE WHEN c.cost_pico_usd IS NULL AND c.uncached_tokens IS NOT NULL THEN 1 END", "unpriced")},
      MIN(c.started_ms) AS first_ms, MAX(c.started_ms) AS last_ms
      ${fromCalls(key)} GROUP BY 1`,
  );
  return new Map(rows.map(([label, row]) => [label, toCallSpending(row)]));
}

function toCallSpending(row: ResultRow): CallSpending {
  return {
    callCount: integer(row, "call_count"),
    turnCount: integer(row, "turn_count"),
    tokens: tokensOf(row),
    callsPicoUsd: moneyOf(row, "cost"),
    failedPicoUsd: moneyOf(row, "failed"),
    unpricedCount: integer(row, "unpriced"),
    firstMs: integer(row, "first_ms"),
    lastMs: integer(row, "last_ms"),
  };
}

/** Leaves out compactions without a model call. */
async function readSummaries(
  ledger: LedgerSnapshot,
  question: Question,
): Promise<ReadonlyMap<Label, SummarySpending>> {
  const rows = await readByGroup(
    ledger,
    question,
    (
      key,
    ) => `SELECT ${key.folds} AS grp, COUNT(*) AS fold_count, ${sumSql("f.input_tokens", "input")}, ${sumSql("f.output_tokens", "output")},
      ${moneySums("f.cost_pico_usd", "cost")}
      ${fromCompactions(key)} AND (f.cost_pico_usd > 0 OR f.input_tokens > 0) GROUP BY 1`,
  );
  return new Map(
    rows.map(([label, row]) => [
      label,
      {
        count: integer(row, "fold_count"),
        inputTokens: integer(row, "input"),
        outputTokens: integer(row, "output"),
        picoUsd: moneyOf(row, "cost"),
      },
    ]),
  );
}

const noCalls: CallSpending = {
  callCount: 0,
  turnCount: 0,
  tokens: { uncached: 0, read: 0, written: 0, output: 0 },
  callsPicoUsd: 0n,
  failedPicoUsd: 0n,
  unpricedCount: 0,
  firstMs: null,
  lastMs: null,
};

const noSummaries: SummarySpending = { count: 0, inputTokens: 0, outputTokens: 0, picoUsd: 0n };
