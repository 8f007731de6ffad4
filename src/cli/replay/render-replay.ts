// The report of a replay as text: what to do first, then the figures it rests on, then what was left out.
import type { GroupBy } from "../../replay/books.ts";
import type {
  BilledFigures,
  GroupReport,
  PolicyReport,
  ReplayReport,
} from "../../replay/report.ts";
import { renderAccounting, renderCauses, renderHeadline, renderSessions } from "./render-causes.ts";
import { renderAutomatic, renderComparison, renderPolicies } from "./render-policies.ts";
import {
  formatCount,
  formatNumber,
  formatPercent,
  formatTokens,
  formatUsd,
} from "../../replay/format-figures.ts";
import { renderTable, type Column } from "../table.ts";
import { wrapLong } from "../window.ts";

export interface ReplayFrame {
  readonly groupBy: GroupBy;
  readonly seconds: number;
  readonly page: string | undefined;
  /** Whether the page has excerpts. */
  readonly excerpts: boolean;
}

export function renderReplay(
  report: ReplayReport,
  { groupBy, seconds, page, excerpts }: ReplayFrame,
): string {
  const parts = [
    renderHeadline(report),
    renderCauses(report),
    renderSessions(report),
    ...(report.requests === 0 ? [] : [renderComparison(report), renderPolicies(report)]),
    renderAutomatic(report),
    ...(groupBy === "none" || report.groups.length === 0 ? [] : [renderGroups(report)]),
    renderMisses(report),
    renderReads(report),
    renderBilled(report),
    renderRest(report),
    renderAccounting(report, seconds),
    page === undefined
      ? ""
      : `page: ${page}${excerpts ? ", with excerpts of what was said" : ""}\n`,
  ];
  return wrapLong(parts.filter((part) => part !== "").join("\n"));
}

function renderGroups({ groups }: ReplayReport): string {
  type Row = ReplayReport["groups"][number];
  const groupColumns: readonly Column<Row>[] = [
    { title: "group", cell: ({ name }) => name },
    { title: "requests", align: "right", cell: ({ requests }) => formatNumber(requests) },
    { title: "limit", align: "right", cell: ({ limit }) => formatUsd(limit.costUsd) },
    { title: "best", cell: (group) => cheapest(group)?.policy ?? "-" },
    { title: "dollars", align: "right", cell: (group) => formatUsd(cheapest(group)?.costUsd ?? 0) },
    {
      title: "recorded",
      align: "right",
      cell: ({ recorded }) => (recorded === undefined ? "-" : formatUsd(recorded.costUsd)),
    },
  ];
  return renderTable(groupColumns, groups);
}

function cheapest({ policies }: GroupReport): PolicyReport | undefined {
  return policies.toSorted((left, right) => left.costUsd - right.costUsd)[0];
}

function renderMisses(report: ReplayReport): string {
  const { policies } = report;
  const rows = policies.flatMap(({ policy, missesByCause }) =>
    Object.entries(missesByCause).map(([cause, miss]) => ({ policy, cause, ...miss })),
  );
  const best = cheapest(report);
  const shown = rows.filter(({ policy }) => policy === best?.policy);
  if (shown.length === 0) return "";
  const missColumns: readonly Column<(typeof shown)[number]>[] = [
    { title: `misses under ${best?.policy ?? ""}`, cell: ({ cause }) => cause },
    { title: "calls", align: "right", cell: (row) => formatNumber(row.count) },
    { title: "tokens", align: "right", cell: ({ tokens }) => formatTokens(tokens) },
    { title: "dollars", align: "right", cell: ({ costUsd }) => formatUsd(costUsd) },
  ];
  return renderTable(
    missColumns,
    shown.toSorted((left, right) => right.costUsd - left.costUsd),
  );
}

/** How well the simulator follows the bills, and what the recordings do not show. */
function renderReads({ recordedReads }: ReplayReport): string {
  const errors = recordedReads
    .flatMap(({ error }) => error ?? [])
    .toSorted((left, right) => left - right);
  const median = errors[Math.floor(errors.length / 2)];
  const hidden = recordedReads
    .flatMap(({ session, hidden: changes }) => changes.map((change) => ({ session, ...change })))
    .toSorted((left, right) => Math.abs(right.tokens) - Math.abs(left.tokens));
  const lines = [
    ...(median === undefined
      ? []
      : [
          `recorded reads: the simulator differs by ${(median * 100).toFixed(2)} % in the median of ` +
            formatCount(errors.length, "session"),
        ]),
    ...hidden.slice(0, placesShown).map(({ session, request, thread, tokens }) => {
      const what = tokens > 0 ? "growth" : "loss";
      const where = thread === "" ? session : `${session}, thread ${thread}`;
      return `  hidden ${what} at request ${request}: ${formatTokens(Math.abs(tokens))} tokens (${where})`;
    }),
  ];
  const more = hidden.length - placesShown;
  if (more > 0) lines.push(`  and ${more} more; --json names them`);
  return lines.length === 0 ? "" : `${lines.join("\n")}\n`;
}

/** What was billed for requests without prompts, in all and by group. */
function renderBilled({ billedOnly }: ReplayReport): string {
  if (billedOnly === undefined) return "";
  const { groups, ...all } = billedOnly;
  const titled = [...groups, { name: "all", ...all }];
  return (
    `as billed, of ${formatCount(all.sessions, "session")} without prompts; no policy can be tried on them\n` +
    renderTable(billedColumns, titled)
  );
}

const billedColumns: readonly Column<BilledFigures & { readonly name: string }>[] = [
  { title: "group", cell: ({ name }) => name },
  { title: "requests", align: "right", cell: ({ requests }) => formatNumber(requests) },
  { title: "dollars", align: "right", cell: ({ costUsd }) => formatUsd(costUsd) },
  { title: "of none", align: "right", cell: ({ relativeCost }) => relativeCost.toFixed(4) },
  { title: "hit rate", align: "right", cell: ({ hitRate }) => formatPercent(hitRate) },
  { title: "coverage", align: "right", cell: ({ coverage }) => formatPercent(coverage) },
  { title: "read", align: "right", cell: ({ readTokens }) => formatTokens(readTokens) },
  {
    title: "written",
    align: "right",
    cell: ({ inputTokens, readTokens, uncachedTokens }) =>
      formatTokens(inputTokens - readTokens - uncachedTokens),
  },
  { title: "fresh", align: "right", cell: ({ uncachedTokens }) => formatTokens(uncachedTokens) },
];

function renderRest({ skipped, skippedWhere, standIns, summary }: ReplayReport): string {
  const lines: string[] = [];
  for (const { reason, count: times } of standIns) lines.push(`${reason} (${times} requests)`);
  const known = new Set(summary.accounting.unusedRequests.map(({ reason }) => reason));
  const others = skipped.filter(({ reason }) => !known.has(reason));
  for (const { reason, count: times } of others) lines.push(`skipped: ${reason} (${times})`);
  for (const { file, line, reason } of skippedWhere.slice(0, placesShown)) {
    lines.push(`  ${file}${line === null ? "" : `:${line}`} ${reason}`);
  }
  const more = skippedWhere.length - placesShown;
  if (more > 0) lines.push(`  and ${more} more; --json names them`);
  return lines.length === 0 ? "" : `${lines.join("\n")}\n`;
}

const placesShown = 10;
