// What sessions did in a window: turns, calls, tokens, money.
import { text, textOrNull } from "../edge/stores/sql/read-row.ts";
import {
  toLazyRow,
  type Analysis,
  type FoundRow,
  type Label,
  type LedgerSnapshot,
} from "./analysis.ts";
import { hitRateOf, tokenFigures, toUsdText, type TokenFigures } from "./figures.ts";
import { rankRows } from "./rank-rows.ts";
import { readSpending, totalOf, type Spending } from "./spending.ts";
import { toIso } from "./time-window.ts";

export interface SessionFigures extends TokenFigures {
  /** Null for turns of deleted sessions that other sessions still build on. */
  readonly session: string | null;
  readonly agent: string | null;
  readonly role: string | null;
  readonly model: string | null;
  readonly parent_session: string | null;
  readonly status: string | null;
  /** Turns that began in the window. */
  readonly turn_count: number;
  readonly call_count: number;
  readonly hit_rate: number | null;
  /** Includes summaries and calls that kept its cache warm. */
  readonly cost_usd: string;
  readonly summary_cost_usd: string;
  readonly warm_cost_usd: string;
  /** Calls with tokens of unknown price: the real cost is higher. */
  readonly unpriced_call_count: number;
  readonly first_call_at: string | null;
  readonly last_call_at: string | null;
}

export const sessions: Analysis<SessionFigures> = {
  summary: "What each session did: turns, calls, tokens and cost",
  groupBys: ["session"],
  isForKeys: true,
  orders: ["cost_usd", "call_count", "turn_count", "hit_rate", "last_call_at"],
  /** Reads session details only for the rows shown. */
  async ask(ledger, question) {
    const spending = await readSpending(ledger, question);
    const { shown, leftOut } = rankRows([...spending].map(toRow), question);
    const known = await readDetails(ledger, shown);
    const rows = shown.map(({ label, figures, exact = {} }) => ({
      label,
      exact,
      figures: { ...figures, ...known.get(figures.session) },
    }));
    return { rows, leftOut };
  },
};

function toRow([label, spent]: readonly [Label, Spending]): FoundRow<SessionFigures> {
  const total = totalOf(spent);
  return toLazyRow<SessionFigures>(label, { cost_usd: total }, () => ({
    session: typeof label === "string" ? label : null,
    agent: null,
    role: null,
    model: null,
    parent_session: null,
    status: null,
    turn_count: spent.turnCount,
    call_count: spent.callCount,
    ...tokenFigures(spent.tokens),
    hit_rate: hitRateOf(spent.tokens),
    cost_usd: toUsdText(total),
    summary_cost_usd: toUsdText(spent.summaries.picoUsd),
    warm_cost_usd: toUsdText(spent.warm.picoUsd),
    unpriced_call_count: spent.unpricedCount,
    first_call_at: spent.firstMs === null ? null : toIso(spent.firstMs),
    last_call_at: spent.lastMs === null ? null : toIso(spent.lastMs),
  }));
}

async function readDetails(
  { query, gatewayKey }: LedgerSnapshot,
  shown: readonly FoundRow<SessionFigures>[],
): Promise<ReadonlyMap<string | null, Partial<SessionFigures>>> {
  const ids = shown.flatMap(({ figures: { session } }) => (session === null ? [] : [session]));
  if (ids.length === 0) return new Map();
  const named =
    gatewayKey === null
      ? "s.model, s.parent_session_id"
      : `(SELECT c.model FROM calls c WHERE c.session_id = s.id AND c.gateway_key = ? ORDER BY c.started_ms DESC, c.number DESC LIMIT 1) AS model,
        CASE WHEN EXISTS (SELECT 1 FROM calls c WHERE c.session_id = s.parent_session_id AND c.gateway_key = ?) THEN s.parent_session_id END AS parent_session_id`;
  const rows = await query(
    `SELECT s.id, s.agent, s.role, ${named}, s.status FROM sessions s WHERE s.id IN (${ids.map(() => "?").join(", ")})`,
    [...(gatewayKey === null ? [] : [gatewayKey, gatewayKey]), ...ids],
  );
  return new Map(
    rows.map((row) => [
      text(row, "id"),
      {
        agent: textOrNull(row, "agent"),
        role: textOrNull(row, "role"),
        model: textOrNull(row, "model"),
        parent_session: textOrNull(row, "parent_session_id"),
        status: textOrNull(row, "status"),
      },
    ]),
  );
}
