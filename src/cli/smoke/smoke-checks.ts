// The checks of a provider's cache after two turns.
import type { CallRecord } from "../../core/ledger/call-entry.ts";
import { noUsage, promptTokens, writtenTokens } from "../../core/message/usage.ts";
import { findCost } from "../../core/models/cost.ts";
import type { ModelFacts } from "../../core/models/model-facts.ts";
import { formatUsdRounded } from "../../core/models/pico-usd.ts";
import { formatNumber } from "../../replay/format-figures.ts";

/** $0.05 */
export const costPicoUsdMax = 50_000_000_000n;

/** The limit of a reply, so that the estimate before sending is also the maximum cost. */
export const outputTokensMax = 200;

export interface SmokeTurn {
  readonly promptTokens: number;
  readonly writtenTokens: number;
  readonly readTokens: number;
  readonly uncachedTokens: number;
  readonly outputTokens: number;
  /** Null if a price is not known. */
  readonly costPicoUsd: bigint | null;
  /** Why there was no answer; null if there was one. */
  readonly failure: string | null;
}

export interface SmokeCheck {
  readonly name: string;
  readonly isOk: boolean;
  readonly detail: string;
}

export function toSmokeTurn(calls: readonly CallRecord[]): SmokeTurn {
  const last = calls.at(-1);
  const usage = last?.usage ?? null;
  const failure = last?.failure ?? null;
  return {
    promptTokens: usage === null ? 0 : promptTokens(usage),
    writtenTokens: usage === null ? 0 : writtenTokens(usage),
    readTokens: usage?.cacheReadTokens ?? 0,
    uncachedTokens: usage?.uncachedTokens ?? 0,
    outputTokens: (usage?.outputTokens ?? 0) + (usage?.reasoningTokens ?? 0),
    costPicoUsd: sumOf(calls.filter((call) => call.usage !== null)),
    failure: failure === null ? null : `${failure.kind}: ${failure.detail}`,
  };
}

type Priced = Pick<CallRecord, "costPicoUsd">;

/** Null if one of them is not known. */
function sumOf(costs: readonly Priced[]): bigint | null {
  return costs.reduce<bigint | null>(
    (sum, { costPicoUsd }) => (sum === null || costPicoUsd === null ? null : sum + costPicoUsd),
    0n,
  );
}

/** To six digits. */
export function costText(costPicoUsd: bigint | null): string {
  return costPicoUsd === null ? "unknown" : formatUsdRounded(costPicoUsd, 6);
}

/** Writes can be checked only if the provider bills them. `control`: the same turns without markers; null for none. */
export function checkSmoke(
  turns: readonly SmokeTurn[],
  control: readonly SmokeTurn[] | null,
  model: ModelFacts,
): readonly SmokeCheck[] {
  const [first, second] = turns;
  const failed = turns.flatMap(({ failure }) => failure ?? []);
  const cost = sumOf([...turns, ...(control ?? [])]);
  const written = first?.writtenTokens ?? 0;
  const read = second?.readTokens ?? 0;
  return [
    {
      name: "both turns are answered",
      isOk: turns.length === 2 && failed.length === 0,
      detail: failed[0] ?? `${turns.length} of 2`,
    },
    ...(billsWrites(model)
      ? [
          {
            name: "turn 1 writes to the cache",
            isOk: written > 0,
            detail: `${formatNumber(written)} tokens`,
          },
        ]
      : []),
    {
      name: "turn 2 reads from the cache",
      isOk: read > 0,
      detail: `${formatNumber(read)} of ${formatNumber(second?.promptTokens ?? 0)} tokens`,
    },
    ...(control === null ? [] : checkControl(turns, control)),
    {
      name: `cost is at most ${formatUsdRounded(costPicoUsdMax, 2)}`,
      isOk: cost !== null && cost <= costPicoUsdMax,
      detail: costText(cost),
    },
  ];
}

function checkControl(
  turns: readonly SmokeTurn[],
  control: readonly SmokeTurn[],
): readonly SmokeCheck[] {
  const failed = control.flatMap(({ failure }) => failure ?? []);
  const read = control.reduce((sum, { readTokens }) => sum + readTokens, 0);
  const [cached, plain] = [sumOf(turns), sumOf(control)];
  const isWhole = control.length === 2 && failed.length === 0;
  const isCheaper = cached !== null && plain !== null && cached < plain;
  return [
    {
      name: "without markers nothing is read from the cache",
      isOk: isWhole && read === 0,
      detail: failed[0] ?? `${formatNumber(read)} tokens`,
    },
    {
      name: "two turns cost less with the cache than without",
      isOk: isWhole && isCheaper,
      detail: `${costText(cached)}, without ${costText(plain)}`,
    },
  ];
}

/** A provider that caches by itself cannot be asked not to; and both passes together stay within the limit. */
export function controlIsAffordable(
  turns: readonly SmokeTurn[],
  prefixTokens: number,
  model: ModelFacts,
): boolean {
  const spent = sumOf(turns);
  const isDone = turns.length === 2 && turns.every(({ failure }) => failure === null);
  if (!isDone || spent === null || model.cache.markers === null) return false;
  const plain = {
    ...noUsage,
    uncachedTokens: prefixTokens + 2 * outputTokensMax,
    outputTokens: outputTokensMax,
  };
  const { cost } = findCost(plain, model, { at: Date.now() });
  return cost !== null && spent + 2n * cost.totalPicoUsd <= costPicoUsdMax;
}

function billsWrites({ cache }: ModelFacts): boolean {
  return cache.lifetimes.some(({ writeMultiplier }) => (writeMultiplier ?? 0) > 1);
}

/** What two turns on a prefix of this length should cost; null if not known. */
export function expectedCost(tokens: number, model: ModelFacts, at: number): bigint | null {
  const [shortest] = model.cache.lifetimes;
  const isWritten = billsWrites(model) && shortest !== undefined;
  const made = { outputTokens: outputTokensMax, reasoningTokens: 0 };
  const writing = {
    ...made,
    uncachedTokens: isWritten ? 0 : tokens,
    cacheReadTokens: 0,
    cacheWriteTokens: isWritten ? { [shortest.lifetime]: tokens } : {},
  };
  const reading = {
    ...made,
    uncachedTokens: 2 * outputTokensMax,
    cacheReadTokens: tokens,
    cacheWriteTokens: {},
  };
  const costs = [writing, reading].map((usage) => findCost(usage, model, { at }).cost);
  return costs.reduce<bigint | null>(
    (sum, cost) => (sum === null || cost === null ? null : sum + cost.totalPicoUsd),
    0n,
  );
}
