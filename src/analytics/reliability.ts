// How often calls, turns and tools failed, why, and how long calls took.
import { isAscending } from "../edge/stores/rollups/cells.ts";
import { integer } from "../edge/stores/sql/read-row.ts";
import type { Analysis, Label, LedgerSnapshot, Question } from "./analysis.ts";
import { callFacts } from "../edge/stores/rollups/call-facts.ts";
import { turnFacts } from "../edge/stores/rollups/turn-facts.ts";
import { countOf, ratio } from "./figures.ts";
import { readColumns, readSums, type SumColumns, type SumRow } from "./read-sums.ts";

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
      const ended = calls.get(label) ?? noEndings;
      const { complete, failed, partial } = ended.counts;
      const callCount = complete + failed + partial;
      const figures: ReliabilityFigures = {
        call_count: callCount,
        failed_call_count: failed,
        partial_call_count: partial,
        failure_rate: ratio(failed + partial, callCount),
        failures: Object.fromEntries(
          [...ended.byFailure].toSorted(([left], [right]) => (left < right ? -1 : 1)),
        ),
        latency_ms_p50: ended.p50,
        latency_ms_p95: ended.p95,
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

/** How the calls of a group ended. */
interface Endings {
  readonly counts: Readonly<Record<"complete" | "partial" | "failed", number>>;
  readonly byFailure: ReadonlyMap<string, number>;
  readonly p50: number | null;
  readonly p95: number | null;
}

const noEndings: Endings = {
  counts: { complete: 0, partial: 0, failed: 0 },
  byFailure: new Map(),
  p50: null,
  p95: null,
};

async function readCalls(
  ledger: LedgerSnapshot,
  question: Question,
): Promise<ReadonlyMap<Label, Endings>> {
  const found = await readColumns(ledger, question, {
    fact: callFacts.endings,
    dims: ["status", "failure", "latency"],
    columns: ["call_count"],
  });
  const rows = rowsByGroup(found);
  return new Map(found.labels.map((label, group) => [label, toEndings(found, rows(group))]));
}

/** The rows of each group, next to each other. */
function rowsByGroup({ count, groupOf, labels }: SumColumns): (group: number) => Int32Array {
  const ends = new Int32Array(labels.length + 1);
  for (let row = 0; row < count; row += 1) {
    const after = (groupOf[row] ?? 0) + 1;
    ends[after] = (ends[after] ?? 0) + 1;
  }
  for (let group = 1; group < ends.length; group += 1) {
    ends[group] = (ends[group] ?? 0) + (ends[group - 1] ?? 0);
  }
  const next = ends.slice();
  const rows = new Int32Array(count);
  for (let row = 0; row < count; row += 1) {
    const group = groupOf[row] ?? 0;
    const place = next[group] ?? 0;
    rows[place] = row;
    next[group] = place + 1;
  }
  return (group) => rows.subarray(ends[group], ends[group + 1]);
}

function toEndings(found: SumColumns, rows: Int32Array): Endings {
  const [statuses, failures] = [found.dim("status"), found.dim("failure")];
  const [latencies, counts] = [found.dim("latency"), found.column("call_count")];
  const sums = { complete: 0, partial: 0, failed: 0 };
  const byFailure = new Map<string, number>();
  const all = { latencies: new Float64Array(rows.length), counts: new Float64Array(rows.length) };
  let filled = 0;
  let [lastId, lastStatus] = [-1, ""];
  for (const row of rows) {
    const [id, count] = [statuses[row] ?? 0, counts[row] ?? 0];
    if (id !== lastId) [lastId, lastStatus] = [id, found.nameOf(id) ?? ""];
    if (lastStatus === "complete") {
      sums.complete += count;
      all.latencies[filled] = latencies[row] ?? 0;
      all.counts[filled] = count;
      filled += 1;
      continue;
    }
    sums[lastStatus === "failed" ? "failed" : "partial"] += count;
    add(byFailure, found.nameOf(failures[row] ?? 0) ?? "not told", count);
  }
  const inOrder = toOrdered({
    latencies: all.latencies.subarray(0, filled),
    counts: all.counts.subarray(0, filled),
  });
  const [p50, p95] = [percentile(inOrder, 50), percentile(inOrder, 95)];
  return { counts: sums, byFailure, p50, p95 };
}

/** Stored sums lie in the order of latency already, unless they were added to others. */
function toOrdered({ latencies, counts }: Latencies): Latencies {
  if (isAscending(latencies)) return { latencies, counts };
  const rows = Int32Array.from(latencies, (_ms, at) => at).toSorted(
    (left, right) => (latencies[left] ?? 0) - (latencies[right] ?? 0),
  );
  return {
    latencies: Float64Array.from(rows, (row) => latencies[row] ?? 0),
    counts: Float64Array.from(rows, (row) => counts[row] ?? 0),
  };
}

interface Latencies {
  /** Ascending. */
  readonly latencies: ArrayLike<number>;
  /** How many calls took each. */
  readonly counts: ArrayLike<number>;
}

/** Nearest rank: the smallest latency that `percent` of the calls do not exceed; null without calls. */
export function percentile({ latencies, counts }: Latencies, percent: number): number | null {
  let [total, seen] = [0, 0];
  for (let at = 0; at < counts.length; at += 1) total += counts[at] ?? 0;
  for (let at = 0; at < counts.length; at += 1) {
    seen += counts[at] ?? 0;
    if (seen * 100 >= total * percent) return latencies[at] ?? null;
  }
  return null;
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
