// Raw query → valid question, or an error that lists the valid values.
import { nearestNames } from "../core/nearest-names.ts";
import { refuse, type AnalyticsErrorCode } from "./analytics-error.ts";
import type { Analysis, AnalyticsQuery, Question } from "./analysis.ts";
import { parseWindow } from "./time-window.ts";

const limitMax = 1000;

export function parseQuestion(query: AnalyticsQuery, analysis: Analysis, nowMs: number): Question {
  const { groupBys, orders } = analysis;
  const groupBy = chosen("invalid_group_by", "group_by", query.groupBy, groupBys);
  return {
    window: parseWindow(query, nowMs),
    groupBy,
    order: parseOrder(query.order, orders, groupBy),
    limit: parseLimit(query.limit),
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

function parseLimit(text = "100"): number {
  const limit = Number(text);
  if (/^\d{1,6}$/.test(text) && limit >= 1 && limit <= limitMax) return limit;
  throw refuse(
    "invalid_limit",
    `limit cannot be "${text}"`,
    `give a whole number from 1 to ${limitMax}`,
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
  const unknown = notRecorded.has(name ?? "") ? ": the ledger does not record it" : "";
  throw refuse(
    code,
    `${what} cannot be "${name ?? ""}"${unknown}`,
    `${suggestion}There ${known.length === 1 ? "is" : "are"}: ${known.join(", ")}`,
  );
}

/** Groups that people ask for and the ledger does not record. */
const notRecorded: ReadonlySet<string> = new Set(["gateway_key", "user", "team"]);
