// Sums of calls, calls that kept a cache warm, and summaries in a window, by group.
import type { ResultRow } from "../edge/stores/sql/database.ts";
import { integer } from "../edge/stores/sql/read-row.ts";
import { callFacts } from "../edge/stores/rollups/call-facts.ts";
import { turnFacts } from "../edge/stores/rollups/turn-facts.ts";
import { moneyOf } from "../edge/stores/sql/sums.ts";
import type { Label, LedgerSnapshot, Question } from "./analysis.ts";
import { countOf, tokensOf, type TokenSums } from "./figures.ts";
import { readSums } from "./read-sums.ts";

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
  const all = await readSums(ledger, question, {
    fact: callFacts.calls,
    dims: ["is_warm"],
    columns: spendColumns,
  });
  const isWarm = ([, row]: (typeof all)[number]): boolean => integer(row, "is_warm") === 1;
  const calls = new Map(all.filter((each) => !isWarm(each)));
  const warm = new Map(all.filter(isWarm));
  const compactions = await readSums(ledger, question, {
    fact: turnFacts.compactions,
    columns: ["paid_count", "input", "paid_output", "cost_0", "cost_1"],
  });
  // Leaves out compactions without a model call.
  const summaries = new Map(compactions.filter(([, row]) => countOf(row, "paid_count") > 0));
  return new Map(
    [...calls.keys(), ...warm.keys(), ...summaries.keys()].map((label) => [
      label,
      toSpending(calls.get(label), warm.get(label), summaries.get(label)),
    ]),
  );
}

const spendColumns = [
  "call_count",
  "turn_count",
  "uncached",
  "read_tokens",
  "written",
  "output",
  "cost_0",
  "cost_1",
  "failed_0",
  "failed_1",
  "unpriced",
  "first_ms",
  "last_ms",
];

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
      count: countOf(summaries, "paid_count"),
      inputTokens: countOf(summaries, "input"),
      outputTokens: countOf(summaries, "paid_output"),
      picoUsd: moneyOf(summaries, "cost"),
    },
  };
}

/** Everything that was paid. */
export function totalOf({ callsPicoUsd, warm, summaries }: Spending): bigint {
  return callsPicoUsd + warm.picoUsd + summaries.picoUsd;
}
