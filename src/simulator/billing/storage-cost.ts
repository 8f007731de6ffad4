// What storing a prefix costs: tokens times the time it lived, at the price of each day.
import { parseUsdPerMTok } from "../../core/models/pico-usd.ts";
import prices from "../data/storage-prices.json" with { type: "json" };

export interface StoredSpan {
  readonly model: string;
  readonly tokens: number;
  readonly fromMs: number;
  readonly toMs: number;
}

interface PriceRow {
  readonly fromMs: number;
  readonly picoPerTokenHour: bigint;
}

const hourMs = 3_600_000n;

const rowsByModel: ReadonlyMap<string, readonly PriceRow[]> = new Map(
  Object.entries(prices.models).map(([model, rows]) => [
    model,
    rows.map(({ from, usdPerMTokHour }) => ({
      fromMs: from === null ? Number.NEGATIVE_INFINITY : Date.parse(from),
      picoPerTokenHour: parseUsdPerMTok(usdPerMTokHour, `storage-prices.json: ${model}`),
    })),
  ]),
);

/** Rounded down to whole pico-dollars. Null if the model's storage has no price. */
export function storagePicoUsd({ model, tokens, fromMs, toMs }: StoredSpan): bigint | null {
  const rows = rowsByModel.get(model);
  if (rows === undefined) return null;
  let total = 0n;
  for (const [index, row] of rows.entries()) {
    const start = Math.max(fromMs, row.fromMs);
    const end = Math.min(toMs, rows[index + 1]?.fromMs ?? toMs);
    if (end > start) total += BigInt(tokens) * BigInt(end - start) * row.picoPerTokenHour;
  }
  return total / hourMs;
}
