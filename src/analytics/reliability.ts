// How often calls, turns and tools failed, why, and how long calls took.
import { fromOutcomeText } from "../core/ledger/call-text.ts";
import { integer, readAs, text } from "../edge/stores/sql/read-row.ts";
import type { Analysis, Label, LedgerSnapshot, Question } from "./analysis.ts";
import { countOf, ratio, sumSql } from "./figures.ts";
import { fromCalls, ofTurns, readByGroup, type GroupKey } from "./group-keys.ts";

export interface ReliabilityFigures {
  readonly call_count: number;
  readonly failed_call_count: number;
  /** Calls cut off before the end; what arrived is recorded. */
  readonly partial_call_count: number;
  /** Failed and partial ÷ all calls. */
  readonly failure_rate: number | null;
  /** Calls by kind of failure. */
  readonly failures: Readonly<Record<string, number>>;
  /** Complete calls only, from the first byte sent to the last one read, with all attempts; rounded to three digits. */
  readonly latency_ms_p50: number | null;
  readonly latency_ms_p95: number | null;
  readonly turn_count: number;
  readonly failed_turn_count: number;
  /** Turns still running, or left open by a process that died. */
  readonly open_turn_count: number;
  readonly tool_use_count: number;
  readonly failed_tool_use_count: number;
}

export const reliability: Analysis<ReliabilityFigures> = {
  summary: "How often calls, turns and tools failed, why, and how long calls took",
  groupBys: ["model", "provider", "day", "hour", "none"],
  orders: ["call_count", "failure_rate", "failed_call_count", "latency_ms_p95"],
  async ask(ledger, question) {
    const calls = await readCalls(ledger, question);
    const turns = new Map(await readByGroup(ledger, question, turnsSql));
    const tools = new Map(await readByGroup(ledger, question, toolsSql));
    const labels = new Set([...calls.keys(), ...turns.keys(), ...tools.keys()]);
    const rows = [...labels].map((label) => {
      const ended = calls.get(label) ?? createEndings();
      const callCount = [...ended.byStatus.values()].reduce((sum, count) => sum + count, 0);
      const failed = ended.byStatus.get("failed") ?? 0;
      const partial = ended.byStatus.get("partial") ?? 0;
      const figures: ReliabilityFigures = {
        call_count: callCount,
        failed_call_count: failed,
        partial_call_count: partial,
        failure_rate: ratio(failed + partial, callCount),
        failures: Object.fromEntries(
          [...ended.byFailure].toSorted(([left], [right]) => (left < right ? -1 : 1)),
        ),
        latency_ms_p50: percentile(ended.latencies, 50),
        latency_ms_p95: percentile(ended.latencies, 95),
        turn_count: countOf(turns.get(label), "total"),
        failed_turn_count: countOf(turns.get(label), "failed"),
        open_turn_count: countOf(turns.get(label), "open"),
        tool_use_count: countOf(tools.get(label), "total"),
        failed_tool_use_count: countOf(tools.get(label), "failed"),
      };
      return { label, figures };
    });
    return { rows };
  },
};

/** Milliseconds → number of calls. */
type Histogram = ReadonlyMap<number, number>;

/** Nearest rank: the smallest latency that `percent` of the calls do not exceed; null without calls. */
export function percentile(histogram: Histogram, percent: number): number | null {
  const total = [...histogram.values()].reduce((sum, count) => sum + count, 0);
  let seen = 0;
  for (const [ms, count] of [...histogram].toSorted(([left], [right]) => left - right)) {
    seen += count;
    if (seen * 100 >= total * percent) return ms;
  }
  return null;
}

/** How the calls of a group ended. */
interface Endings {
  readonly byStatus: Map<string, number>;
  readonly byFailure: Map<string, number>;
  readonly latencies: Map<number, number>;
}

function createEndings(): Endings {
  return { byStatus: new Map(), byFailure: new Map(), latencies: new Map() };
}

async function readCalls(
  ledger: LedgerSnapshot,
  question: Question,
): Promise<ReadonlyMap<Label, Endings>> {
  const counted = await readByGroup(
    ledger,
    question,
    (
      key,
    ) => `SELECT ${key.calls} AS grp, c.status AS status, ${roundedSql("(c.ended_ms - c.started_ms)")} AS latency, COUNT(*) AS call_count
    ${fromCalls(key)} GROUP BY 1, 2, 3`,
  );
  // The kind of failure is inside the outcome JSON, which is read for incomplete calls only.
  const failed = await readByGroup(
    ledger,
    question,
    (key) =>
      `SELECT ${key.calls} AS grp, c.outcome_json ${fromCalls(key)} AND c.status <> 'complete'`,
  );
  const found = new Map<Label, Endings>();
  const endingsOf = (label: Label): Endings => {
    const known = found.get(label) ?? createEndings();
    found.set(label, known);
    return known;
  };
  for (const [label, row] of counted) {
    const { byStatus, latencies } = endingsOf(label);
    const [status, count] = [text(row, "status"), integer(row, "call_count")];
    add(byStatus, status, count);
    if (status === "complete") add(latencies, integer(row, "latency"), count);
  }
  for (const [label, row] of failed) {
    const { failure } = readAs(row, "outcome_json", fromOutcomeText);
    add(endingsOf(label).byFailure, failure?.kind ?? "not told", 1);
  }
  return found;
}

/** Rounds up to three digits, so that 100,000 calls give a few thousand values at most. 0 if the clock was set back. */
function roundedSql(ms: string): string {
  return `CASE WHEN ${ms} < 0 THEN 0 WHEN ${ms} < 1000 THEN ${ms} WHEN ${ms} < 10000 THEN (${ms} + 9) / 10 * 10 WHEN ${ms} < 100000 THEN (${ms} + 99) / 100 * 100 ELSE (${ms} + 999) / 1000 * 1000 END`;
}

function add<Key>(counts: Map<Key, number>, key: Key, count: number): void {
  counts.set(key, (counts.get(key) ?? 0) + count);
}

function turnsSql(key: GroupKey): string {
  return `SELECT ${ofTurns(key)} AS grp, COUNT(*) AS total, ${sumSql("CASE WHEN t.status = 'failed' THEN 1 END", "failed")},
      ${sumSql("CASE WHEN t.status IN ('pending', 'interrupted') THEN 1 END", "open")}
    FROM turns t WHERE t.turn_type = 'normal' AND t.started_ms >= ? AND t.started_ms < ? GROUP BY 1`;
}

function toolsSql(key: GroupKey): string {
  return `SELECT ${ofTurns(key)} AS grp, COUNT(*) AS total, ${sumSql("CASE WHEN u.status = 'failed' THEN 1 END", "failed")}
    FROM turns t JOIN tool_calls u ON u.turn_id = t.id WHERE t.started_ms >= ? AND t.started_ms < ? GROUP BY 1`;
}
