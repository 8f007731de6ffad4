// Questions to the ledger → answers with an envelope.
import { assert } from "../core/assert.ts";
import { listModels, type Catalogue } from "../core/models/catalogue.ts";
import type {
  Analysis,
  AnalyticsQuery,
  AnalyticsSource,
  AnalyticsWorld,
  Label,
  LedgerSnapshot,
  Question,
} from "./analysis.ts";
import { createNames } from "../edge/stores/rollups/rollup-names.ts";
import { readState } from "../edge/stores/rollups/rollup-state.ts";
import { rankRows } from "./rank-rows.ts";
import { toIso, parseWindow } from "./time-window.ts";
import { nearestNames } from "../core/nearest-names.ts";
import { refuse, type AnalyticsErrorCode } from "./analytics-error.ts";

/** The shape of an API response: names with underscores, times in UTC, money as decimal text. */
export interface Answer<Row extends object = object> {
  readonly window: { readonly start: string; readonly end: string };
  /** The latest day on which a current price was checked. */
  readonly current_pricing_version: string;
  readonly data: readonly Row[];
  /** Rows beyond the limit. */
  readonly left_out_count: number;
  readonly notes: readonly string[];
}

/** Answers from one snapshot of the ledger. Writes nothing. */
export async function askLedger<Row extends object>(
  source: AnalyticsSource,
  analysis: Analysis<Row>,
  query: AnalyticsQuery,
  world: AnalyticsWorld,
): Promise<Answer<Row>> {
  const { gatewayKey = null } = world;
  assert(gatewayKey === null || analysis.isForKeys === true, "a key asks for what it may see");
  const question = parseQuestion(query, analysis, world.nowMs);
  const found = await source.snapshot(async (snapshot) => {
    if (source.kind === "postgres") await snapshot.query(roomForGroups);
    const read: LedgerSnapshot["query"] = (sql, values) => snapshot.query(sql, values);
    const state = world.fromRawRows === true ? null : await readState(read);
    const cells = { query: read, names: createNames(read), state, gatewayKey };
    return analysis.ask(
      { clockSql: source.clockSql, query: read, cells, gatewayKey },
      question,
      world,
    );
  });
  const { startMs, endMs } = found.window ?? question.window;
  const { shown, leftOut } = rankRows(found.rows, question);
  return {
    window: { start: toIso(startMs), end: toIso(endMs) },
    current_pricing_version: pricingVersionOf(world.catalogue),
    data: shown.map(({ label, figures }) => ({ ...labelled(question, label), ...figures })),
    left_out_count: leftOut + (found.leftOut ?? 0),
    notes: found.notes ?? [],
  };
}

/** `groupBy: "model"` adds a field `model` to the row; "none" adds no field. */
function labelled({ groupBy }: Question, label: Label): object {
  return groupBy === "none" ? {} : { [groupBy]: label };
}

/**
 * PostgreSQL overestimates the number of groups and then sorts all calls on disk. Raises work_mem to 64 MB for this
 * transaction; a higher setting stays.
 */
const roomForGroups =
  "SELECT set_config('work_mem', '64MB', true) AS room WHERE pg_size_bytes(current_setting('work_mem')) < 67108864";

/** The latest day on which a price was checked. */
export function pricingVersionOf(catalogue: Catalogue): string {
  return listModels(catalogue).reduce(
    (latest, { checkedOn }) => (checkedOn > latest ? checkedOn : latest),
    "",
  );
}

const limitUsual = 100;
const limitMax = 1000;
/** Buckets of time in an answer. */
const pointsMax = 2000;

function parseQuestion(query: AnalyticsQuery, analysis: Analysis, nowMs: number): Question {
  const { groupBys, orders } = analysis;
  const groupBy = chosen("invalid_group_by", "group_by", query.groupBy, groupBys);
  return {
    window: parseWindow(query, nowMs),
    groupBy,
    order: parseOrder(query.order, orders, groupBy),
    limit: parseLimit(query, groupBy),
    baseline: query.baseline ?? null,
    turn: query.turn ?? null,
  };
}

/** Default: days and hours by time, other rows by the first figure. Names ascend, figures descend. */
function parseOrder(
  text: string | undefined,
  orders: readonly string[],
  groupBy: string,
): Question["order"] {
  const isTime = groupBy === "day" || groupBy === "hour";
  if (text === undefined && isTime) return { by: "group", isDescending: false };
  const [, name = text, direction] = /^(.*):(asc|desc)$/.exec(text ?? "") ?? [];
  const by = chosen("invalid_order", "order", name, [...orders, "group"]);
  const isDescending = direction === undefined ? by !== "group" : direction === "desc";
  return { by, isDescending };
}

/** Rows by day or hour: as many as `points` allows. Others: 100, unless the question says so. */
function parseLimit({ limit, points }: AnalyticsQuery, groupBy: string): number {
  const isTime = groupBy === "day" || groupBy === "hour";
  if (points !== undefined && !isTime) {
    throw refuse(
      "invalid_limit",
      `points are for rows by day or hour, not by ${groupBy}`,
      "leave points out, or set limit instead",
    );
  }
  const most = parseCount("points", points ?? String(pointsMax), pointsMax);
  if (limit === undefined) return isTime ? most : limitUsual;
  return Math.min(parseCount("limit", limit, limitMax), most);
}

function parseCount(name: string, text: string, max: number): number {
  const count = Number(text);
  if (/^\d{1,6}$/.test(text) && count >= 1 && count <= max) return count;
  throw refuse(
    "invalid_limit",
    `${name} cannot be "${text}"`,
    `give a whole number from 1 to ${max}`,
  );
}

function chosen(
  code: AnalyticsErrorCode,
  what: string,
  name: string | undefined,
  known: readonly string[],
): string {
  const found = name === undefined ? known[0] : known.find((each) => each === name);
  if (found !== undefined) return found;
  const [near] = nearestNames(name ?? "", known, 1);
  const suggestion = near === undefined ? "" : `did you mean ${near}? `;
  throw refuse(
    code,
    `${what} cannot be "${name ?? ""}"`,
    `${suggestion}There ${known.length === 1 ? "is" : "are"}: ${known.join(", ")}`,
  );
}
