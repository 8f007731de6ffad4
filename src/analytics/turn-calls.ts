// The calls of one turn, in order.
import { fromOutcomeText } from "../core/ledger/call-text.ts";
import * as column from "../edge/stores/sql/read-row.ts";
import type { LedgerSnapshot } from "./analysis.ts";
import { hitRateOf, tokenFigures, toUsdText, writtenSql, type TokenFigures } from "./figures.ts";
import { toIso } from "./time-window.ts";

export interface TurnCall extends TokenFigures {
  readonly number: number;
  readonly status: string;
  readonly stop_reason: string | null;
  /** The kind of failure. */
  readonly failure: string | null;
  readonly model: string;
  readonly policy: string;
  readonly started_at: string;
  readonly latency_ms: number;
  readonly hit_rate: number | null;
  /** Null if nothing was billed or the price is unknown. */
  readonly cost_usd: string | null;
  /** Billed attempts and summaries whose result was discarded. */
  readonly discarded_count: number;
}

export async function readTurnCalls(
  { query }: LedgerSnapshot,
  turnId: string,
): Promise<readonly TurnCall[]> {
  const rows = await query(
    `SELECT c.number, c.status, c.stop_reason, c.model, c.policy, c.started_ms, c.ended_ms, c.uncached_tokens, c.read_tokens, ${writtenSql} AS written,
      c.output_tokens + c.reasoning_tokens AS output, CAST(c.cost_pico_usd AS TEXT) AS cost, c.outcome_json
    FROM calls c WHERE c.turn_id = ? ORDER BY c.number`,
    [turnId],
  );
  return rows.map((row) => {
    const { failure, discarded } = column.readAs(row, "outcome_json", fromOutcomeText);
    const startMs = column.integer(row, "started_ms");
    const tokens = {
      uncached: column.integerOrNull(row, "uncached_tokens") ?? 0,
      read: column.integerOrNull(row, "read_tokens") ?? 0,
      written: column.integer(row, "written"),
      output: column.integerOrNull(row, "output") ?? 0,
    };
    return {
      number: column.integer(row, "number"),
      status: column.text(row, "status"),
      stop_reason: column.textOrNull(row, "stop_reason"),
      failure: failure?.kind ?? null,
      model: column.text(row, "model"),
      policy: column.text(row, "policy"),
      started_at: toIso(startMs),
      // The clock may have been set back during the call.
      latency_ms: Math.max(0, column.integer(row, "ended_ms") - startMs),
      ...tokenFigures(tokens),
      hit_rate: hitRateOf(tokens),
      cost_usd: row["cost"] === null ? null : toUsdText(column.money(row, "cost")),
      discarded_count: discarded.length,
    };
  });
}
