// The calls of a running `strata sim`: each as a line that names others by number, and their sum at the end.
import { StrataError } from "../../core/strata-error.ts";
import { formatUsdRounded } from "../../core/models/pico-usd.ts";
import { parseUsdText } from "../../analytics/figures.ts";
import { formatCount, formatNumber, formatPercent } from "../../replay/format-figures.ts";
import * as sim from "../../simulator/index.ts";
import type { Io } from "../command.ts";
import { renderFacts } from "../table.ts";

export interface CallTotals {
  readonly calls: number;
  readonly billed: number;
  readonly refused: number;
  readonly readTokens: number;
  readonly writtenTokens: number;
  readonly uncachedTokens: number;
  readonly outputTokens: number;
  readonly costPicoUsd: bigint;
  /** Billed calls of models without a price. */
  readonly unpriced: number;
}

const none: CallTotals = {
  calls: 0,
  billed: 0,
  refused: 0,
  readTokens: 0,
  writtenTokens: 0,
  uncachedTokens: 0,
  outputTokens: 0,
  costPicoUsd: 0n,
  unpriced: 0,
};

export interface CallReport {
  readonly add: (call: sim.Call) => void;
  readonly totals: () => CallTotals;
}

/** Problems are always printed; other calls only if `isVerbose`. */
export function createCallReport(
  isVerbose: boolean,
  isQuiet: boolean,
  { out, error }: Pick<Io, "out" | "error">,
): CallReport {
  const numbers = new Map<string, number>();
  let totals = none;
  const nameOf = (requestId: string): string => {
    const number = numbers.get(requestId);
    return number === undefined ? requestId : `#${number}`;
  };
  return {
    add: (call) => {
      const requestId = call.billed?.bill.requestId;
      if (requestId !== undefined) remember(numbers, requestId, call.number);
      totals = addCall(totals, call);
      const line = `${sim.describeCall(call, nameOf)}\n`;
      if (call.problem !== null) error(line);
      else if (isVerbose) (isQuiet ? error : out)(line);
    },
    totals: () => totals,
  };
}

/** A simulator may run for weeks; older calls are named by their id. */
const numbersMax = 10_000;

function remember(numbers: Map<string, number>, requestId: string, number: number): void {
  numbers.set(requestId, number);
  const [oldest] = numbers.keys();
  if (numbers.size > numbersMax && oldest !== undefined) numbers.delete(oldest);
}

function addCall(totals: CallTotals, { billed, outcome, problem }: sim.Call): CallTotals {
  const isRefused = outcome === "refused" || problem !== null;
  const counted = {
    ...totals,
    calls: totals.calls + 1,
    refused: totals.refused + (isRefused ? 1 : 0),
  };
  if (billed === null) return counted;
  const { bill, outputTokens, costUsd } = billed;
  const written = Object.values(bill.writeTokens).reduce((sum, tokens) => sum + tokens, 0);
  return {
    ...counted,
    billed: totals.billed + 1,
    readTokens: totals.readTokens + bill.readTokens,
    writtenTokens: totals.writtenTokens + written,
    uncachedTokens: totals.uncachedTokens + bill.uncachedTokens,
    outputTokens: totals.outputTokens + outputTokens,
    costPicoUsd: totals.costPicoUsd + toPico(costUsd),
    unpriced: totals.unpriced + (costUsd === null ? 1 : 0),
  };
}

function toPico(costUsd: string | null): bigint {
  if (costUsd === null) return 0n;
  const pico = parseUsdText(costUsd.replace("$", ""));
  if (pico !== null) return pico;
  throw new StrataError("input-invalid", `${costUsd} is not an amount`, "report this as a bug");
}

/** Empty if nothing was asked. */
export function renderTotals(totals: CallTotals): string {
  const { calls, billed, refused, readTokens, writtenTokens, uncachedTokens, unpriced } = totals;
  if (calls === 0) return "\nNo calls came.\n";
  const prompt = readTokens + writtenTokens + uncachedTokens;
  const share = (tokens: number): string =>
    `${formatNumber(tokens)} tokens, ${formatPercent(prompt === 0 ? 0 : tokens / prompt)} of what was sent`;
  const without = unpriced === 0 ? "" : `, and ${formatCount(unpriced, "call")} without a price`;
  return `\n${renderFacts([
    [
      "calls",
      `${formatNumber(calls)}: ${formatNumber(billed)} billed, ${formatNumber(refused)} refused`,
    ],
    ["read", share(readTokens)],
    ["written", share(writtenTokens)],
    ["not cached", share(uncachedTokens)],
    ["made", `${formatNumber(totals.outputTokens)} tokens`],
    ["cost", `${formatUsdRounded(totals.costPicoUsd)}, simulated${without}`],
  ])}`;
}
