// The analyses as routes: each with its own groups and orders, and the schema of its rows.
import { analyses } from "../../analytics/analyses.ts";
import { analysisNames, type AnalysisName } from "../../analytics/analysis-names.ts";
import type { AnalyticsQuery } from "../../analytics/analysis.ts";
import type { AnalyticsErrorCode } from "../../analytics/analytics-error.ts";
import { askLedger } from "../../analytics/ask-ledger.ts";
import { onlyPresent } from "../../core/message/fields.ts";
import { ranked } from "./envelope.ts";
import { figuresOf } from "./figures.ts";
import type { Asked, Found, Route, Source } from "./route.ts";

const codeFor = { baseline: "unknown_baseline_model", turn: "turn_not_found" } as const;

export const analysisRoutes: readonly Route[] = analysisNames.map(toRoute);

function toRoute(name: AnalysisName): Route {
  const { summary, groupBys, orders, takes = [], isForKeys } = analyses[name];
  const own: readonly AnalyticsErrorCode[] = takes.map((taken) => codeFor[taken]);
  return {
    name,
    method: "GET",
    isSlow: true,
    ...(isForKeys === true ? { isForKeys } : {}),
    path: `/analytics/${name}`,
    summary,
    query: ["from", "to", "group_by", "order", "limit", "points", ...takes],
    values: { group_by: groupBys, order: [...orders, "group"] },
    answer: ranked(figuresOf(name)),
    errors: ["invalid_time_window", "invalid_group_by", "invalid_order", "invalid_limit", ...own],
    example: `/analytics/${name}?from=30d&group_by=${groupBys[0] ?? "none"}`,
    read: (asked, source) => readAnalysis(name, asked, source),
  };
}

async function readAnalysis(
  name: AnalysisName,
  { query, access }: Asked,
  { database, ...world }: Source,
): Promise<Found> {
  const { from, to, group_by: groupBy, order, limit, points, baseline, turn } = query;
  const given = { from, to, groupBy, order, limit, points, baseline, turn };
  const question: AnalyticsQuery = onlyPresent(given);
  const body = await askLedger(database, analyses[name], question, {
    ...world,
    ...(access.kind === "key" ? { gatewayKey: access.name } : {}),
  });
  return { body, isClosed: to !== undefined && Date.parse(body.window.end) <= world.nowMs };
}
