// Dollars for people. A call without a price is never shown as free.
import type { Ledger } from "../core/ledger/ledger.ts";
import { formatUsdRounded } from "../core/models/pico-usd.ts";
import { formatCount } from "../replay/format-figures.ts";

/** `$0.0123`, `unknown`, or `≥ $0.0123, 2 calls without a price`. */
export function formatCost(knownPicoUsd: bigint, unpricedCalls: number, decimals?: number): string {
  const short = formatShortCost(knownPicoUsd, unpricedCalls, decimals);
  if (unpricedCalls === 0) return short;
  const rest = `${formatCount(unpricedCalls, "call")} without a price`;
  return `${short}${knownPicoUsd === 0n ? ": " : ", "}${rest}`;
}

/** For a cell or the status line: `$0.0123`, `unknown` or `≥ $0.0123`. */
export function formatShortCost(
  knownPicoUsd: bigint,
  unpricedCalls: number,
  decimals?: number,
): string {
  const known = formatUsdRounded(knownPicoUsd, decimals);
  if (unpricedCalls === 0) return known;
  return knownPicoUsd === 0n ? "unknown" : `≥ ${known}`;
}

/** Billed, and at an unknown price. */
export function isUnpriced(call: {
  readonly usage: unknown;
  readonly costPicoUsd: bigint | null;
}): boolean {
  return call.usage !== null && call.costPicoUsd === null;
}

/** Calls without a price, by session. */
export async function countUnpriced(
  ledger: Pick<Ledger, "readUnpriced">,
  sessions: readonly { readonly id: string }[],
): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  for (const { sessionId, calls } of await ledger.readUnpriced(sessions.map(({ id }) => id))) {
    counts.set(sessionId, (counts.get(sessionId) ?? 0) + calls);
  }
  return counts;
}
