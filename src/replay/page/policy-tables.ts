// Tables: figures per policy, cost of misses, groups.
import type { GroupReport, MissReport, PolicyReport, ReplayReport } from "../report.ts";
import { cheapestFirst } from "./cheapest.ts";
import { formatCount, formatPercent, formatUsd } from "./format-figures.ts";
import { renderHtmlTable, type HtmlColumn } from "./html-table.ts";
import { escapeHtml, formatTokens } from "./in-page.ts";

export function renderPolicies({ policies }: ReplayReport): string {
  return renderHtmlTable("policies", "Policies", policyColumns, cheapestFirst(policies));
}

const policyColumns: readonly HtmlColumn<PolicyReport>[] = [
  { title: "policy", cell: ({ policy }) => policy },
  { title: "dollars", kind: "number", cell: ({ costUsd }) => formatUsd(costUsd) },
  { title: "× limit", kind: "number", cell: ({ ratioToLimit }) => ratioToLimit.toFixed(3) },
  { title: "of none", kind: "number", cell: ({ relativeCost }) => relativeCost.toFixed(4) },
  { title: "hit rate", kind: "number", cell: ({ hitRate }) => formatPercent(hitRate) },
  { title: "coverage", kind: "number", cell: ({ coverage }) => formatPercent(coverage) },
  { title: "read", kind: "number", cell: ({ readTokens }) => formatTokens(readTokens) },
  { title: "write 5m", kind: "number", cell: ({ writeTokens }) => formatTokens(writeTokens["5m"]) },
  { title: "30m", kind: "number", cell: ({ writeTokens }) => formatTokens(writeTokens["30m"]) },
  { title: "1h", kind: "number", cell: ({ writeTokens }) => formatTokens(writeTokens["1h"]) },
  { title: "fresh", kind: "number", cell: ({ uncachedTokens }) => formatTokens(uncachedTokens) },
  {
    title: "wasted",
    kind: "number",
    cell: ({ wastedWriteTokens }) => formatTokens(wastedWriteTokens),
  },
  { title: "rewrites", kind: "number", cell: ({ rewriteFactor }) => rewriteFactor.toFixed(2) },
];

/** One collapsible table per policy; that of the cheapest is open. */
export function renderMisses({ policies }: ReplayReport): string {
  return cheapestFirst(policies)
    .map(({ policy, missesByCause }, index) => {
      const rows = Object.entries(missesByCause)
        .map(([cause, miss]) => ({ cause, ...miss }))
        .toSorted((left, right) => right.costUsd - left.costUsd);
      const count = rows.reduce((sum, row) => sum + row.count, 0);
      const costUsd = rows.reduce((sum, row) => sum + row.costUsd, 0);
      const summary = `${policy}: ${formatCount(count, "miss", "misses")}, ${formatUsd(costUsd)}`;
      const table = renderHtmlTable(`misses-${index}`, `Misses of ${policy}`, missColumns, rows);
      return (
        `<details class="misses"${index === 0 ? " open" : ""}><summary>${escapeHtml(summary)}</summary>` +
        `${rows.length === 0 ? "<p>No call missed.</p>" : table}</details>`
      );
    })
    .join("\n");
}

const missColumns: readonly HtmlColumn<MissReport & { readonly cause: string }>[] = [
  { title: "cause", cell: ({ cause }) => cause },
  { title: "calls", kind: "number", cell: ({ count }) => String(count) },
  { title: "tokens", kind: "number", cell: ({ tokens }) => formatTokens(tokens) },
  { title: "dollars", kind: "number", cell: ({ costUsd }) => formatUsd(costUsd) },
];

export function renderGroups({ groups }: ReplayReport): string {
  return renderHtmlTable("groups", "Groups", groupColumns, groups);
}

const groupColumns: readonly HtmlColumn<ReplayReport["groups"][number]>[] = [
  { title: "group", cell: ({ name }) => name },
  { title: "sessions", kind: "number", cell: ({ sessions }) => String(sessions) },
  { title: "requests", kind: "number", cell: ({ requests }) => String(requests) },
  { title: "limit", kind: "number", cell: ({ limit }) => formatUsd(limit.costUsd) },
  { title: "best", cell: (group) => cheapestOf(group)?.policy ?? "-" },
  { title: "dollars", kind: "number", cell: (group) => formatUsd(cheapestOf(group)?.costUsd ?? 0) },
  {
    title: "× limit",
    kind: "number",
    cell: (group) => (cheapestOf(group)?.ratioToLimit ?? 0).toFixed(3),
  },
  {
    title: "recorded",
    kind: "number",
    cell: ({ recorded }) => (recorded === undefined ? "-" : formatUsd(recorded.costUsd)),
  },
];

function cheapestOf({ policies }: GroupReport): PolicyReport | undefined {
  return cheapestFirst(policies)[0];
}
