// Sums over calls: as SQL for both databases, and as figures of an answer.
import { integerOrNull } from "../edge/stores/sql/read-row.ts";
import { countSum } from "../edge/stores/sql/sums.ts";
import type { ResultRow } from "../edge/stores/sql/database.ts";
import { toUsdDecimal } from "../core/models/pico-usd.ts";
import { writtenSql } from "../edge/stores/rollups/written-sql.ts";

export { parseUsdText } from "../core/models/pico-usd.ts";
export { writtenSql };

/** 1 for a row of `calls c` that was billed at an unknown price. */
export const unpricedSql =
  "CASE WHEN c.cost_pico_usd IS NULL AND c.uncached_tokens IS NOT NULL THEN 1 END";

export function sumSql(expression: string, name: string): string {
  return `COALESCE(${countSum(expression)}, 0) AS ${name}`;
}

/** Sums over `calls c`. */
export const tokenSums: string = [
  sumSql("c.uncached_tokens", "uncached"),
  sumSql("c.read_tokens", "read_tokens"),
  sumSql(writtenSql, "written"),
  sumSql("c.output_tokens + c.reasoning_tokens", "output"),
].join(", ");

/** A sum or a count; 0 without a row or a value. */
export function countOf(row: ResultRow | undefined, name: string): number {
  return row === undefined ? 0 : (integerOrNull(row, name) ?? 0);
}

export interface TokenSums {
  readonly uncached: number;
  readonly read: number;
  readonly written: number;
  readonly output: number;
}

export function tokensOf(row: ResultRow | undefined): TokenSums {
  return {
    uncached: countOf(row, "uncached"),
    read: countOf(row, "read_tokens"),
    written: countOf(row, "written"),
    output: countOf(row, "output"),
  };
}

export interface TokenFigures {
  readonly uncached_input_tokens: number;
  readonly cached_input_tokens: number;
  readonly cache_creation_tokens: number;
  readonly output_tokens: number;
}

export function tokenFigures({ uncached, read, written, output }: TokenSums): TokenFigures {
  return {
    uncached_input_tokens: uncached,
    cached_input_tokens: read,
    cache_creation_tokens: written,
    output_tokens: output,
  };
}

/** Null if the whole is 0. */
export function ratio(part: number, whole: number): number | null {
  return whole === 0 ? null : part / whole;
}

export function hitRateOf({ uncached, read, written }: TokenSums): number | null {
  return ratio(read, uncached + read + written);
}

/** Dollars as decimal text with six digits after the point. Sums are rounded only here. */
export function toUsdText(pico: bigint): string {
  return toUsdDecimal(pico, 6);
}
