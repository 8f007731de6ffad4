// What each key of a gateway has spent, by day: added up with the calls themselves, so that a sum reads few rows, and deleting a
// conversation gives no money back. And what gateways spent to keep caches warm.
import type {
  GatewayCall,
  KeySpending,
  SpendingSince,
  WarmingCost,
} from "../../../../core/ledger/gateway-call.ts";
import type { Statement } from "../../sql/database.ts";
import { isWarmSql } from "../../rollups/price-bands.ts";
import { moneyOrNull, text } from "../../sql/read-row.ts";
import { storable } from "../../sql/storable.ts";
import { moneyOf, moneySums, picoUsdMax } from "../../sql/sums.ts";
import type { Store } from "../store.ts";

const dayMs = 86_400_000;

const add = `INSERT INTO key_spending (gateway_key, day_ms, cost_pico_usd) VALUES (?, ?, ?)
  ON CONFLICT (gateway_key, day_ms) DO UPDATE SET cost_pico_usd = CASE
    WHEN key_spending.cost_pico_usd > ${picoUsdMax} - excluded.cost_pico_usd THEN ${picoUsdMax}
    ELSE key_spending.cost_pico_usd + excluded.cost_pico_usd END`;

/** A day begins at midnight UTC, and a call belongs to the day on which it was sent. */
export function addKeySpending(calls: readonly GatewayCall[]): readonly Statement[] {
  const sums = new Map<string, { key: string; day: number; cost: bigint }>();
  for (const { gatewayKey, startMs, costPicoUsd } of calls) {
    if (gatewayKey == null || costPicoUsd === null || costPicoUsd === 0n) continue;
    const [key, day] = [storable(gatewayKey), startMs - (startMs % dayMs)];
    const sum = sums.get(`${day} ${key}`) ?? { key, day, cost: 0n };
    const cost = sum.cost + costPicoUsd;
    sums.set(`${day} ${key}`, { key, day, cost: cost > picoUsdMax ? picoUsdMax : cost });
  }
  // In one order, so that two nodes do not wait for each other.
  const inOrder = [...sums].toSorted(([left], [right]) => (left < right ? -1 : 1));
  return inOrder.map(([, { key, day, cost }]) => ({ sql: add, values: [key, day, cost] }));
}

/** Every key that ever spent something. */
export async function sumKeySpending(
  { database }: Store,
  since: SpendingSince,
): Promise<readonly KeySpending[]> {
  const rows = await database.query(
    `SELECT gateway_key, ${moneySums("cost_pico_usd", "total")}, ${moneySums(from(since.monthMs), "month")}, ${moneySums(from(since.dayMs), "day")}
      FROM key_spending GROUP BY gateway_key ORDER BY gateway_key`,
    [],
  );
  return rows.map((row) => ({
    gatewayKey: text(row, "gateway_key"),
    dayPicoUsd: moneyOf(row, "day"),
    monthPicoUsd: moneyOf(row, "month"),
    totalPicoUsd: moneyOf(row, "total"),
  }));
}

function from(ms: number): string {
  return `CASE WHEN day_ms >= ${Math.trunc(ms)} THEN cost_pico_usd ELSE 0 END`;
}

/** For a budget that they share. */
export async function listWarming(
  { database }: Store,
  sinceMs: number,
): Promise<readonly WarmingCost[]> {
  const rows = await database.query(
    `SELECT c.id, CAST(c.cost_pico_usd AS TEXT) AS cost_pico_usd FROM calls c WHERE c.turn_id IS NULL AND c.kind = 'gateway' AND c.started_ms >= ? AND ${isWarmSql}`,
    [sinceMs],
  );
  return rows.map((row) => ({
    callId: text(row, "id"),
    costPicoUsd: moneyOrNull(row, "cost_pico_usd"),
  }));
}
