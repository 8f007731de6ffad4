// How often calls, turns and tools failed, why, and how long calls took.
import { fromOutcomeText } from "../core/ledger/call-text.ts";
import { integer, readAs, text } from "../edge/stores/sql/read-row.ts";
import type { Analysis, Label, LedgerSnapshot, Question } from "./analysis.ts";
import { callFacts } from "../edge/stores/rollups/call-facts.ts";
import { turnFacts } from "../edge/stores/rollups/turn-facts.ts";
import type { ResultRow } from "../edge/stores/sql/database.ts";
import { countOf, ratio } from "./figures.ts";
import { labelOfGroup } from "./group-keys.ts";
import { readSums, type SumRow } from "./read-sums.ts";

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
    const turns = new Map(await readTurns(ledger, question));
    const tools = new Map(
      await readSums(ledger, question, { fact: turnFacts.toolUses, columns: ["total", "failed"] }),
    );
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
  const counted = await readSums(ledger, question, {
    fact: callFacts.endings,
    dims: ["status", "latency"],
    columns: ["call_count"],
  });
  const failed = await readFailures(ledger, question);
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

/** The kind of failure is inside the outcome JSON, which is read for incomplete calls only. */
async function readFailures(
  { query }: LedgerSnapshot,
  { groupBy, window }: Question,
): Promise<readonly (readonly [Label, ResultRow])[]> {
  const [key] = callFacts.calls.dims[groupBy]?.sql ?? ["'all'"];
  const rows = await query(
    `SELECT ${key} AS grp, c.outcome_json FROM calls c WHERE c.started_ms >= ? AND c.started_ms < ? AND c.status <> 'complete'`,
    [window.startMs, window.endMs],
  );
  return rows.map((row) => [labelOfGroup(groupBy, row["grp"]), row]);
}

function add<Key>(counts: Map<Key, number>, key: Key, count: number): void {
  counts.set(key, (counts.get(key) ?? 0) + count);
}

/** Without those of compactions. */
async function readTurns(ledger: LedgerSnapshot, question: Question): Promise<readonly SumRow[]> {
  const rows = await readSums(ledger, question, {
    fact: turnFacts.turns,
    columns: ["total", "failed", "open"],
  });
  return rows.filter(([, row]) => integer(row, "total") > 0);
}
