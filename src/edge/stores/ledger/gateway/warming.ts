// The calls by which gateways kept caches warm, for a budget that they share.
import type { WarmingCost } from "../../../../core/ledger/gateway-call.ts";
import { moneyOrNull, text } from "../../sql/read-row.ts";
import { isWarmSql } from "../../rollups/price-bands.ts";
import type { Store } from "../store.ts";

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
