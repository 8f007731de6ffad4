// Sums that no stored value makes fail: SQLite's integers overflow, and numbers are exact only to 2^53.
import { money } from "./read-row.ts";
import type { ResultRow } from "./database.ts";

/** Tokens and other counts. Exact to 2^53, and never more. Null for no value. */
export function countSum(expression: string): string {
  const sum = `SUM(CAST(${expression} AS DOUBLE PRECISION))`;
  const max = Number.MAX_SAFE_INTEGER;
  return `CAST(CASE WHEN ${sum} > ${max} THEN ${max} ELSE ${sum} END AS BIGINT)`;
}

/** Money, in two parts. Read it with `moneyOf`. */
export function moneySums(expression: string, name: string): string {
  return ["/", "%"]
    .map(
      (operator, index) =>
        `CAST(COALESCE(SUM((${expression}) ${operator} 1000000), 0) AS TEXT) AS ${name}_${index}`,
    )
    .join(", ");
}

/** A sum of `moneySums`; 0 without a row or a value. */
export function moneyOf(row: ResultRow | undefined, name: string): bigint {
  const [large, small] = [row?.[`${name}_0`] ?? null, row?.[`${name}_1`]];
  if (large === null || row === undefined) return 0n;
  // Numbers that stored sums hold.
  if (typeof large === "number" && typeof small === "number") {
    return BigInt(large) * 1_000_000n + BigInt(small);
  }
  return money(row, `${name}_0`) * 1_000_000n + money(row, `${name}_1`);
}

/** The most that a column of money holds: 9.2 million dollars. */
export const picoUsdMax: bigint = 2n ** 63n - 1n;

/** `cost_pico_usd` plus a value, given twice. Stops at the most that the column holds. */
export const addCost: string = `cost_pico_usd = CASE WHEN cost_pico_usd > ${picoUsdMax} - CAST(? AS BIGINT) THEN ${picoUsdMax} ELSE cost_pico_usd + CAST(? AS BIGINT) END`;
