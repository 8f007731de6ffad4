// Why calls read less from the cache than they could have, where their prompts broke, and what that cost.
import { jsonFacts } from "../edge/stores/rollups/json-facts.ts";
import { integer } from "../edge/stores/sql/read-row.ts";
import type { Analysis, Found, FoundRow, Label, LedgerSnapshot, Question } from "./analysis.ts";
import { rankRows } from "./rank-rows.ts";
import { readColumns, type SumColumns } from "./read-sums.ts";
import { parseUsdText, toUsdText } from "./figures.ts";
import * as stored from "./stored-events.ts";

export interface MissFigures {
  readonly miss_count: number;
  readonly session_count: number;
  readonly expected_read_tokens: number;
  readonly reported_read_tokens: number;
  readonly lost_tokens: number;
  readonly lost_cost_usd: string;
  /** Misses of unknown cost: the real sum is higher. */
  readonly unpriced_miss_count: number;
  /** How often each cause. */
  readonly causes: Readonly<Record<string, number>>;
  /** How often each section of the prompt: the first that differs, or the last that was not read. */
  readonly sections: Readonly<Record<string, number>>;
  /** The miss that lost most tokens. */
  readonly costliest_cause: string | null;
  readonly costliest_detail: string | null;
  /** Section, tier and number of its block. */
  readonly costliest_block: string | null;
  /** The first byte of the block that differs. */
  readonly costliest_byte: number | null;
  readonly costliest_session: string;
  readonly costliest_turn: string | null;
  /** Misses for which the provider gave a cause of its own: the same as ours, or another. */
  readonly provider_agreed_count: number;
  readonly provider_differed_count: number;
}

export const misses: Analysis<MissFigures> = {
  summary: "Why calls read less from the cache than they could have, where, and what that cost",
  groupBys: ["cause", "section", "tier", "model", "session", "turn", "day", "hour", "none"],
  orders: ["lost_cost_usd", "miss_count", "lost_tokens"],
  isForKeys: true,
  ask: (ledger, question) =>
    // Stored sums do not tell keys or turns apart.
    ledger.gatewayKey === null && question.groupBy !== "turn"
      ? askSums(ledger, question)
      : askEvents(ledger, question),
};

async function askEvents(ledger: LedgerSnapshot, question: Question): Promise<Found<MissFigures>> {
  const events = await stored.readEvents(ledger, question, ["cache.miss"]);
  const groups = stored.groupEvents(events, (event) => [
    stored.eventLabel(event, fields[question.groupBy] ?? question.groupBy),
  ]);
  const rows = [...groups].map(([label, group]) => {
    const losses = group.map(({ payload }) => parseUsdText(payload["lost_cost_usd"]));
    const lost = losses.reduce<bigint>((sum, each) => sum + (each ?? 0n), 0n);
    const figures: MissFigures = {
      miss_count: group.length,
      session_count: stored.sessionCount(group),
      expected_read_tokens: stored.sumField(group, "expected_read_tokens"),
      reported_read_tokens: stored.sumField(group, "reported_read_tokens"),
      lost_tokens: stored.sumField(group, "lost_tokens"),
      lost_cost_usd: toUsdText(lost),
      unpriced_miss_count: losses.filter((each) => each === null).length,
      causes: stored.countBy(group, (event) => stored.textField(event, "cause")),
      sections: stored.countBy(group, (event) => stored.textField(event, "block_label")),
      ...toCostliest(group),
      provider_agreed_count: countOf(group, "agrees"),
      provider_differed_count: countOf(group, "differs"),
    };
    return { label, figures, exact: { lost_cost_usd: lost } };
  });
  return { rows };
}

/** What the costliest miss says is read for the rows that are shown. */
async function askSums(ledger: LedgerSnapshot, question: Question): Promise<Found<MissFigures>> {
  const found = await readColumns(ledger, question, {
    fact: jsonFacts.misses,
    dims: ["session", "cause", "section"],
    columns: [...summed, "most_lost", "costliest"],
  });
  const groups = found.labels.map(() => createMissSum());
  const dims = ["session", "cause", "section"].map(found.dim);
  const columns = summed.map(found.column);
  const [mostLost, costliest] = [found.column("most_lost"), found.column("costliest")];
  for (let row = 0; row < found.count; row += 1) {
    const group = groups[found.groupOf[row] ?? 0];
    if (group === undefined) continue;
    const [session = 0, cause = 0, section = 0] = dims.map((ids) => ids[row] ?? 0);
    const count = columns[0]?.[row] ?? 0;
    group.sessions.add(session);
    add(group.causes, cause, count);
    add(group.sections, section, count);
    for (const [at, values] of columns.entries()) {
      group.sums[at] = (group.sums[at] ?? 0) + (values[row] ?? 0);
    }
    const [lost, position] = [mostLost[row] ?? 0, costliest[row] ?? 0];
    if (lost > group.mostLost || (lost === group.mostLost && position < group.costliest)) {
      [group.mostLost, group.costliest] = [lost, position];
    }
  }
  const all = found.labels.map((label, at) =>
    toSumRow(label, groups[at] ?? createMissSum(), found),
  );
  const { shown, leftOut } = rankRows(all, question);
  const events = await readCostliest(
    ledger,
    shown.map(({ costliest: position }) => position),
  );
  const rows = shown.map(({ label, exact = {}, figures, costliest: position }) => {
    const event = events.get(position);
    return {
      label,
      exact,
      figures: { ...figures, ...toCostliest(event === undefined ? [] : [event]) },
    };
  });
  return { rows, leftOut };
}

const summed = [
  "miss_count",
  "expected",
  "reported",
  "lost",
  "cost_0",
  "cost_1",
  "unpriced",
  "agreed",
  "differed",
];

interface MissSum {
  readonly sums: Float64Array;
  readonly sessions: Set<number>;
  readonly causes: Map<number, number>;
  readonly sections: Map<number, number>;
  mostLost: number;
  costliest: number;
}

function createMissSum(): MissSum {
  return {
    sums: new Float64Array(summed.length),
    sessions: new Set(),
    causes: new Map(),
    sections: new Map(),
    mostLost: -1,
    costliest: 0,
  };
}

function add(counts: Map<number, number>, id: number, count: number): void {
  counts.set(id, (counts.get(id) ?? 0) + count);
}

type SumRow = FoundRow<Omit<MissFigures, keyof Costliest>> & { readonly costliest: number };

function toSumRow(label: Label, group: MissSum, { nameOf }: SumColumns): SumRow {
  const sum = (name: string): number => group.sums[summed.indexOf(name)] ?? 0;
  const lost = BigInt(sum("cost_0")) * 1_000_000n + BigInt(sum("cost_1"));
  return {
    label,
    costliest: group.costliest,
    exact: { lost_cost_usd: lost },
    figures: {
      miss_count: sum("miss_count"),
      session_count: group.sessions.size,
      expected_read_tokens: sum("expected"),
      reported_read_tokens: sum("reported"),
      lost_tokens: sum("lost"),
      lost_cost_usd: toUsdText(lost),
      unpriced_miss_count: sum("unpriced"),
      causes: byName(group.causes, nameOf),
      sections: byName(group.sections, nameOf),
      provider_agreed_count: sum("agreed"),
      provider_differed_count: sum("differed"),
    },
  };
}

function byName(
  counts: ReadonlyMap<number, number>,
  nameOf: SumColumns["nameOf"],
): Readonly<Record<string, number>> {
  const named = [...counts].flatMap(([id, count]): [string, number][] => {
    const name = nameOf(id);
    return name === null ? [] : [[name, count]];
  });
  return Object.fromEntries(named.toSorted(([left], [right]) => (left < right ? -1 : 1)));
}

const positionsPerQuery = 500;

async function readCostliest(
  { query }: LedgerSnapshot,
  positions: readonly number[],
): Promise<ReadonlyMap<number, stored.StoredEvent>> {
  const found = new Map<number, stored.StoredEvent>();
  for (let from = 0; from < positions.length; from += positionsPerQuery) {
    const part = positions.slice(from, from + positionsPerQuery);
    const rows = await query(
      `SELECT e.position, e.type, e.timestamp_us, e.session_id, e.turn_id, CAST(NULL AS TEXT) AS model, e.payload_json FROM events e WHERE e.position IN (${part.map(() => "?").join(", ")})`,
      part,
    );
    for (const row of rows) found.set(integer(row, "position"), stored.toStoredEvent(row));
  }
  return found;
}

/** Groups with another name than their field. */
const fields: Readonly<Record<string, string>> = { section: "block_label", tier: "block_tier" };

type Costliest = Pick<MissFigures, Extract<keyof MissFigures, `costliest_${string}`>>;

/** The first of equal ones by time. */
function toCostliest(group: readonly stored.StoredEvent[]): Costliest {
  const [first] = group.toSorted(
    (left, right) => lostIn(right) - lostIn(left) || left.timeMs - right.timeMs,
  );
  return {
    costliest_cause: first === undefined ? null : stored.textField(first, "cause"),
    costliest_detail: first === undefined ? null : stored.textField(first, "detail"),
    costliest_block: first === undefined ? null : toBlock(first),
    costliest_byte: first === undefined ? null : stored.numberField(first, "block_byte_offset"),
    costliest_session: first?.sessionId ?? "",
    costliest_turn: first?.turnId ?? null,
  };
}

function lostIn(event: stored.StoredEvent): number {
  return stored.numberField(event, "lost_tokens") ?? 0;
}

function toBlock(event: stored.StoredEvent): string | null {
  const index = stored.numberField(event, "block_index");
  const section = stored.textField(event, "block_label");
  if (index === null || section === null) return null;
  return `${section} (${stored.textField(event, "block_tier") ?? "?"}, block ${index + 1})`;
}

function countOf(events: Parameters<typeof stored.sessionCount>[0], agreement: string): number {
  return events.filter(({ payload }) => payload["diagnosis_agreement"] === agreement).length;
}
