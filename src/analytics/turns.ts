// Turns of a window, or one turn with its calls.
import type { ResultRow } from "../edge/stores/sql/database.ts";
import * as column from "../edge/stores/sql/read-row.ts";
import { integer, integerOrNull, money, text, textOrNull } from "../edge/stores/sql/read-row.ts";
import type { Analysis, Found, FoundRow, LedgerSnapshot, Question } from "./analysis.ts";
import { refuse } from "./analytics-error.ts";
import * as billed from "./figures.ts";
import { hitRateOf, tokenFigures, toUsdText, writtenSql, type TokenFigures } from "./figures.ts";
import { moneyOf, moneySums } from "../edge/stores/sql/sums.ts";
import { toIso } from "./time-window.ts";
import { fromOutcomeText } from "../core/ledger/call-text.ts";

export interface TurnFigures extends billed.TokenFigures {
  readonly turn: string;
  readonly session: string | null;
  /** `normal`, or `compaction` for a compaction. */
  readonly type: string;
  readonly status: string;
  readonly end_reason: string | null;
  /** The turn is pending and its lease is valid by the database's clock. */
  readonly in_flight: boolean;
  readonly model: string;
  readonly provider: string;
  readonly started_at: string;
  readonly completed_at: string | null;
  readonly duration_ms: number | null;
  readonly call_count: number;
  readonly tool_use_count: number;
  readonly hit_rate: number | null;
  /** The cost so far if in flight; for a compaction, the cost of its summary. */
  readonly cost_usd: string;
  /** Calls with tokens of unknown price: the real cost is higher. */
  readonly unpriced_call_count: number;
  /** Only if the question named the turn. */
  readonly calls?: readonly TurnCall[];
}

export const turns: Analysis<TurnFigures> = {
  summary: "Turns with what they cost and how they ended, or one of them call by call",
  groupBys: ["turn"],
  orders: ["started_at", "cost_usd", "call_count", "duration_ms"],
  takes: ["turn"],
  ask: (ledger, question, world) =>
    question.turn === null
      ? askTurns(ledger, question)
      : askTurn(ledger, question.turn, world.nowMs),
};

const ranks: Readonly<Record<string, string>> = {
  started_at: "t.started_ms",
  cost_usd: "COALESCE(k.total, 0)",
  call_count: "COALESCE(k.total, 0)",
  duration_ms: "t.completed_ms - t.started_ms",
  group: "t.id",
};

const inWindow = "t.started_ms >= ? AND t.started_ms < ?";

/** Picks the ids first and reads details for those only: a window can hold 100,000 turns. */
async function askTurns(
  ledger: LedgerSnapshot,
  { window: { startMs, endMs }, order, limit }: Question,
): Promise<Found<TurnFigures>> {
  const [counted] = await ledger.query(`SELECT COUNT(*) AS turns FROM turns t WHERE ${inWindow}`, [
    startMs,
    endMs,
  ]);
  const total = counted === undefined ? 0 : integer(counted, "turns");
  const picked = await ledger.query(
    `SELECT t.id FROM ${rankedTurns(order)} ORDER BY ${ranks[order.by] ?? "t.id"} ${order.isDescending ? "DESC" : "ASC"} NULLS LAST, t.id LIMIT ?`,
    [...(isSummed(order) ? [startMs, startMs] : []), startMs, endMs, limit],
  );
  const first = picked.map((row) => text(row, "id"));
  const rest = limit > first.length && total > first.length ? limit - first.length : 0;
  const others = rest === 0 ? [] : await readOthers(ledger, { startMs, endMs }, first, rest);
  const rows = await readTurns(ledger, [...first, ...others]);
  return { rows, leftOut: total - rows.length };
}

/** Turns without calls or compactions, to fill up to the limit. */
async function readOthers(
  { query }: LedgerSnapshot,
  { startMs, endMs }: Question["window"],
  ids: readonly string[],
  limit: number,
): Promise<readonly string[]> {
  const places = ids.map(() => "?").join(", ");
  const others = ids.length === 0 ? "" : ` AND t.id NOT IN (${places})`;
  const rows = await query(
    `SELECT t.id FROM turns t WHERE ${inWindow}${others} ORDER BY t.id LIMIT ?`,
    [startMs, endMs, ...ids, limit],
  );
  return rows.map((row) => text(row, "id"));
}

function isSummed({ by }: Pick<Question["order"], "by">): boolean {
  return by === "cost_usd" || by === "call_count";
}

/**
 * No call or compaction is older than its turn. In descending order, turns without calls and compactions come last and are left out
 * here. PostgreSQL underestimates the number of sums and would look up each turn; the opaque condition prevents that.
 */
function rankedTurns({ by, isDescending }: Question["order"]): string {
  if (!isSummed({ by })) return `turns t WHERE ${inWindow}`;
  const [ofCall, ofCompaction] =
    by === "cost_usd" ? ["c.cost_pico_usd", "f.cost_pico_usd"] : ["1", "0"];
  const sums = `SELECT turn_id, SUM(part) AS total FROM (
      SELECT c.turn_id, ${ofCall} AS part FROM calls c WHERE c.started_ms >= ?
      UNION ALL SELECT f.turn_id, ${ofCompaction} AS part FROM compactions_v1 f WHERE f.compacted_at >= ?
    ) u GROUP BY turn_id`;
  const condition = isDescending ? " AND COALESCE(k.turn_id, '') <> ''" : "";
  return `turns t LEFT JOIN (${sums}) k ON k.turn_id = t.id WHERE ${inWindow}${condition}`;
}

/** The window of the answer is the time of the turn. */
async function askTurn(
  ledger: LedgerSnapshot,
  id: string,
  nowMs: number,
): Promise<Found<TurnFigures>> {
  const [found] = await readTurns(ledger, [id]);
  if (found === undefined) {
    throw refuse(
      "turn_not_found",
      `there is no turn ${id}`,
      "list turns with: strata stats turns, or those of a session with: strata sessions show ID",
    );
  }
  const calls = await readTurnCalls(ledger, id);
  const { started_at, completed_at } = found.figures;
  const endMs = completed_at === null ? nowMs : Date.parse(completed_at);
  return {
    rows: [{ ...found, figures: { ...found.figures, calls } }],
    window: { startMs: Date.parse(started_at), endMs },
  };
}

async function readTurns(
  { query, clockSql }: LedgerSnapshot,
  ids: readonly string[],
): Promise<readonly FoundRow<TurnFigures>[]> {
  if (ids.length === 0) return [];
  const places = ids.map(() => "?").join(", ");
  const rows = await query(
    `SELECT t.id, t.turn_type, t.status, t.end_reason, t.model, t.provider, t.started_ms, t.completed_ms,
      COALESCE(NULLIF(k.session_id, ''), NULLIF(f.session_id, ''), o.id) AS session_id,
      CASE WHEN t.status = 'pending' AND o.lease_holder IS NOT NULL AND o.lease_expires_ms >= ${clockSql} THEN 1 ELSE 0 END AS in_flight,
      k.call_count, k.uncached, k.read_tokens, k.written, k.output, k.cost_0, k.cost_1, k.unpriced,
      CAST(COALESCE(f.cost_pico_usd, 0) AS TEXT) AS compaction_cost,
      (SELECT COUNT(*) FROM tool_calls u WHERE u.turn_id = t.id) AS tool_use_count
    FROM turns t
    LEFT JOIN (
      SELECT c.turn_id, MAX(c.session_id) AS session_id, COUNT(*) AS call_count, ${billed.tokenSums}, ${moneySums("c.cost_pico_usd", "cost")},
        ${billed.sumSql(billed.unpricedSql, "unpriced")}
      FROM calls c WHERE c.turn_id IN (${places}) GROUP BY c.turn_id
    ) k ON k.turn_id = t.id
    LEFT JOIN compactions_v1 f ON f.turn_id = t.id
    LEFT JOIN sessions o ON o.open_turn_id = t.id WHERE t.id IN (${places})`,
    [...ids, ...ids],
  );
  return rows.map(toRow);
}

function toRow(row: ResultRow): FoundRow<TurnFigures> {
  const tokens = billed.tokensOf(row);
  const total = money(row, "compaction_cost") + moneyOf(row, "cost");
  const startMs = integer(row, "started_ms");
  const endMs = integerOrNull(row, "completed_ms");
  const figures: TurnFigures = {
    turn: text(row, "id"),
    session: textOrNull(row, "session_id"),
    type: text(row, "turn_type"),
    status: text(row, "status"),
    end_reason: textOrNull(row, "end_reason"),
    in_flight: integer(row, "in_flight") === 1,
    model: text(row, "model"),
    provider: text(row, "provider"),
    started_at: toIso(startMs),
    completed_at: endMs === null ? null : toIso(endMs),
    duration_ms: endMs === null ? null : Math.max(0, endMs - startMs),
    call_count: billed.countOf(row, "call_count"),
    tool_use_count: integer(row, "tool_use_count"),
    ...billed.tokenFigures(tokens),
    hit_rate: billed.hitRateOf(tokens),
    cost_usd: billed.toUsdText(total),
    unpriced_call_count: billed.countOf(row, "unpriced"),
  };
  return { label: figures.turn, figures, exact: { cost_usd: total } };
}

interface TurnCall extends TokenFigures {
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

async function readTurnCalls(
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
