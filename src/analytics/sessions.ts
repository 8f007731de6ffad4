// What sessions did in a window: turns, calls, tokens, money.
import type { ResultRow } from "../edge/stores/sql/database.ts";
import { text, textOrNull } from "../edge/stores/sql/read-row.ts";
import type { Analysis, Found, LedgerSnapshot, Question, RankedRow } from "./analysis.ts";
import { hitRateOf, tokenFigures, toUsdText, type TokenFigures } from "./figures.ts";
import { rankRows } from "./rank-rows.ts";
import { readSpending, type Spending } from "./spending.ts";
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
  /** Includes summaries. */
  readonly cost_usd: string;
  readonly summary_cost_usd: string;
  readonly first_call_at: string | null;
  readonly last_call_at: string | null;
}

export const sessions: Analysis<SessionFigures> = {
  summary: "What each session did: turns, calls, tokens and cost",
  groupBys: ["session"],
  orders: ["cost_usd", "call_count", "turn_count", "hit_rate", "last_call_at"],
  ask: askSessions,
};

/** Reads session details only for the rows shown. */
async function askSessions(
  ledger: LedgerSnapshot,
  question: Question,
): Promise<Found<SessionFigures>> {
  const spending = await readSpending(ledger, question);
  const all = [...spending].map(([label, spent]) => rank(textOf(label), spent));
  const { shown, leftOut } = rankRows(all, question);
  const known = await readKnown(ledger, shown);
  return {
    leftOut,
    rows: shown.map((row) => ({
      ...row,
      figures: toFigures(row.label, row.figures, known.get(row.label ?? "")),
    })),
  };
}

interface RankedSession extends RankedRow<Spending> {
  readonly label: string | null;
}

function textOf(label: unknown): string | null {
  return typeof label === "string" ? label : null;
}

function rank(label: string | null, spent: Spending): RankedSession {
  return {
    label,
    figures: spent,
    ranks: {
      cost_usd: spent.callsPicoUsd + spent.summaries.picoUsd,
      call_count: spent.callCount,
      turn_count: spent.turnCount,
      hit_rate: hitRateOf(spent.tokens),
      last_call_at: spent.lastMs,
    },
  };
}

async function readKnown(
  { query }: LedgerSnapshot,
  shown: readonly RankedSession[],
): Promise<ReadonlyMap<string, ResultRow>> {
  const ids = shown.flatMap(({ label }) => (label === null ? [] : [label]));
  if (ids.length === 0) return new Map();
  const rows = await query(
    `SELECT s.id, s.agent, s.role, s.model, s.parent_session_id, s.status FROM sessions s WHERE s.id IN (${ids.map(() => "?").join(", ")})`,
    ids,
  );
  return new Map(rows.map((row) => [text(row, "id"), row]));
}

function toFigures(
  id: string | null,
  spent: Spending,
  known: ResultRow | undefined,
): SessionFigures {
  const textIn = (column: string): string | null =>
    known === undefined ? null : textOrNull(known, column);
  return {
    session: id,
    agent: textIn("agent"),
    role: textIn("role"),
    model: textIn("model"),
    parent_session: textIn("parent_session_id"),
    status: textIn("status"),
    turn_count: spent.turnCount,
    call_count: spent.callCount,
    ...tokenFigures(spent.tokens),
    hit_rate: hitRateOf(spent.tokens),
    cost_usd: toUsdText(spent.callsPicoUsd + spent.summaries.picoUsd),
    summary_cost_usd: toUsdText(spent.summaries.picoUsd),
    first_call_at: spent.firstMs === null ? null : toIso(spent.firstMs),
    last_call_at: spent.lastMs === null ? null : toIso(spent.lastMs),
  };
}
