// What storing a prefix costs: tokens times the time it lived, at the price of each day.
import type { StoredRules } from "../../core/models/stored-rules.ts";

export interface StoredSpan {
  readonly tokens: number;
  readonly fromMs: number;
  readonly toMs: number;
}

const hourMs = 3_600_000n;

/** Rounded down to whole pico-dollars. Null if storage has no published price. */
export function storagePicoUsd(
  { tokens, fromMs, toMs }: StoredSpan,
  rules: StoredRules | null,
): bigint | null {
  const rows = rules?.storage ?? [];
  if (rows.length === 0) return null;
  let total = 0n;
  for (const [index, { from, picoUsdPerTokenHour }] of rows.entries()) {
    const nextFrom = rows[index + 1]?.from ?? null;
    const start = from === null ? fromMs : Math.max(fromMs, Date.parse(from));
    const end = nextFrom === null ? toMs : Math.min(toMs, Date.parse(nextFrom));
    if (end > start) total += BigInt(tokens) * BigInt(end - start) * picoUsdPerTokenHour;
  }
  return total / hourMs;
}
