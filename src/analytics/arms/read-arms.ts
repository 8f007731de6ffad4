// The conversations that the gateway optimised and those that it held out, by group: their figures beside each other.
import type { Arm } from "../../core/ledger/gateway-call.ts";
import { text } from "../../edge/stores/sql/read-row.ts";
import type { ResultRow } from "../../edge/stores/sql/database.ts";
import { moneyOf, moneySums } from "../../edge/stores/sql/sums.ts";
import type { Label, LedgerSnapshot, Question } from "../analysis.ts";
import { countOf, sumSql, toUsdText, unpricedSql } from "../figures.ts";
import { callFacts } from "../../edge/stores/rollups/call-facts.ts";
import { ofGatewayKey } from "../../edge/stores/rollups/fact.ts";
import { labelOfGroup } from "../group-keys.ts";
import { compareArms, confidence, type Family } from "./compare-arms.ts";

/** `strata_`: the arm that was optimised; `holdout_`: the one that was left as it is. A sub-agent belongs to its conversation. */
export interface ArmsFigures {
  readonly strata_conversation_count: number;
  readonly holdout_conversation_count: number;
  readonly strata_call_count: number;
  readonly holdout_call_count: number;
  readonly strata_cost_usd: string;
  readonly holdout_cost_usd: string;
  /** Dollars per conversation and per call. Arms have conversations of different length: see the shares. */
  readonly strata_cost_per_conversation_usd: string | null;
  readonly holdout_cost_per_conversation_usd: string | null;
  readonly strata_cost_per_call_usd: string | null;
  readonly holdout_cost_per_call_usd: string | null;
  /** Cost ÷ what the same calls would have cost without a cache. */
  readonly strata_cost_share: number | null;
  readonly holdout_cost_share: number | null;
  /** How much less the optimised ones cost, in shares: 1 − strata_cost_share ÷ holdout_cost_share. */
  readonly saved_share: number | null;
  /** The ends of the interval that holds the true value with `confidence`. Null with too few conversations. */
  readonly saved_share_low: number | null;
  readonly saved_share_high: number | null;
  readonly confidence: number;
  /** `cheaper` or `dearer` if the interval leaves zero out. */
  readonly claim: "cheaper" | "dearer" | null;
  /** Why nothing is claimed. */
  readonly reason: string | null;
  /** Calls that were sent with our markers. */
  readonly marked_call_count: number;
  /** What the optimised calls would have cost with their clients' own markers, by the account that the gateway keeps. */
  readonly client_cost_usd: string;
  /** What the same calls did cost. */
  readonly compared_cost_usd: string;
  /** The difference of those two. */
  readonly saved_usd: string;
  readonly compared_call_count: number;
  /** Calls of both arms with tokens of unknown price: they are left out. */
  readonly unpriced_call_count: number;
}

export async function readArms(
  { query, gatewayKey }: LedgerSnapshot,
  { groupBy, window }: Question,
): Promise<ReadonlyMap<Label, ArmsFigures>> {
  const { calls } = callFacts;
  const [key] = calls.dims[groupBy]?.sql ?? ["'all'"];
  const rows = await query(
    `SELECT ${key} AS grp, COALESCE(s.parent_session_id, c.session_id) AS family, c.arm AS arm,
      COUNT(*) AS call_count, ${sumSql(`CASE WHEN ${isPriced} THEN 1 END`, "priced")}, ${sumSql(unpricedSql, "unpriced")},
      ${sumSql("CASE WHEN c.policy <> 'client' THEN 1 END", "marked")},
      ${sumSql(`CASE WHEN ${isCompared} THEN 1 END`, "compared")},
      ${moneySums(`CASE WHEN ${isPriced} THEN c.cost_pico_usd END`, "cost")},
      ${moneySums(`CASE WHEN ${isPriced} THEN c.plain_cost_pico_usd END`, "plain")},
      ${moneySums(`CASE WHEN ${isCompared} THEN c.cost_pico_usd END`, "compared")},
      ${moneySums(`CASE WHEN ${isCompared} THEN c.client_cost_pico_usd END`, "client")}
    ${(gatewayKey === null ? calls : ofGatewayKey(calls)).from(true)} AND c.arm IS NOT NULL AND c.arm <> 'client' GROUP BY 1, 2, 3`,
    [window.startMs, window.endMs, ...(gatewayKey === null ? [] : [gatewayKey])],
  );
  const groups = Map.groupBy(rows, (row) => labelOfGroup(groupBy, row["grp"]));
  return new Map([...groups].map(([label, each]) => [label, toFigures(each)]));
}

const isPriced = "c.cost_pico_usd IS NOT NULL AND c.plain_cost_pico_usd IS NOT NULL";
const isCompared =
  "c.arm = 'strata' AND c.cost_pico_usd IS NOT NULL AND c.client_cost_pico_usd IS NOT NULL";

function toFigures(rows: readonly ResultRow[]): ArmsFigures {
  const [strata, holdout] = [toArm(rows, "strata"), toArm(rows, "holdout")];
  const compared = compareArms(strata.families, holdout.families);
  const { strataShare, holdoutShare, savedShare, interval, claim, reason } = compared;
  const sum = (name: string): number => rows.reduce((all, row) => all + countOf(row, name), 0);
  const [client, sent] = [moneyIn(rows, "client"), moneyIn(rows, "compared")];
  return {
    strata_conversation_count: strata.families.length,
    holdout_conversation_count: holdout.families.length,
    strata_call_count: strata.callCount,
    holdout_call_count: holdout.callCount,
    strata_cost_usd: toUsdText(strata.costPicoUsd),
    holdout_cost_usd: toUsdText(holdout.costPicoUsd),
    strata_cost_per_conversation_usd: meanOf(strata.costPicoUsd, strata.families.length),
    holdout_cost_per_conversation_usd: meanOf(holdout.costPicoUsd, holdout.families.length),
    strata_cost_per_call_usd: meanOf(strata.costPicoUsd, strata.callCount),
    holdout_cost_per_call_usd: meanOf(holdout.costPicoUsd, holdout.callCount),
    strata_cost_share: strataShare,
    holdout_cost_share: holdoutShare,
    saved_share: savedShare,
    saved_share_low: interval?.low ?? null,
    saved_share_high: interval?.high ?? null,
    confidence,
    claim,
    reason,
    marked_call_count: sum("marked"),
    client_cost_usd: toUsdText(client),
    compared_cost_usd: toUsdText(sent),
    saved_usd: toUsdText(client - sent),
    compared_call_count: sum("compared"),
    unpriced_call_count: sum("unpriced"),
  };
}

interface ArmSums {
  readonly families: readonly Family[];
  readonly callCount: number;
  readonly costPicoUsd: bigint;
}

function toArm(rows: readonly ResultRow[], arm: Arm): ArmSums {
  const priced = rows.filter((row) => text(row, "arm") === arm && countOf(row, "priced") > 0);
  return {
    families: priced.map((row) => ({
      costUsd: Number(moneyOf(row, "cost")) / 1e12,
      plainUsd: Number(moneyOf(row, "plain")) / 1e12,
    })),
    callCount: priced.reduce((all, row) => all + countOf(row, "priced"), 0),
    costPicoUsd: moneyIn(priced, "cost"),
  };
}

function moneyIn(rows: readonly ResultRow[], name: string): bigint {
  return rows.reduce((all, row) => all + moneyOf(row, name), 0n);
}

function meanOf(picoUsd: bigint, count: number): string | null {
  return count === 0 ? null : toUsdText(picoUsd / BigInt(count));
}
