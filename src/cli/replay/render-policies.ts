// Tables of a replay: policies against the limit, against the bills, and at providers that take no markers.
import type {
  AutomaticReport,
  GroupReport,
  PolicyReport,
  ReplayReport,
} from "../../replay/report.ts";
import {
  formatCount,
  formatNumber,
  formatPercent,
  formatTokens,
  formatUsd,
} from "../../replay/format-figures.ts";
import type { ComparisonReport } from "../../replay/summary/summary.ts";
import { renderTable, type Column } from "../table.ts";
import { windowColumns } from "../window.ts";

/** Policies that cost the same in every figure are one row. */
export function renderPolicies(group: GroupReport): string {
  const { limit, limitWarm } = group;
  const cheapestFirst = group.policies.toSorted((left, right) => left.costUsd - right.costUsd);
  const isNarrow = windowColumns() < allColumnsWidth;
  return [
    renderTable(
      isNarrow ? policyColumns.slice(0, 1 + costColumns.length) : policyColumns,
      joinEqual(cheapestFirst, figuresOf),
    ),
    isNarrow ? "a wider window shows what was read and written; --json has all\n" : "",
    `limit     ${formatUsd(limit.costUsd)}  ${limit.relativeCost.toFixed(4)} of no caching; ` +
      `with keep-warm ${formatUsd(limitWarm.costUsd)}\n`,
  ].join("");
}

/** In a narrower window each policy would be a list of twelve lines. */
const allColumnsWidth = 140;

function figuresOf({ policy: _policy, ...figures }: PolicyReport): string {
  return JSON.stringify(figures);
}

function joinEqual<Row extends { readonly policy: string }>(
  rows: readonly Row[],
  figures: (row: Row) => string,
): Row[] {
  return [...Map.groupBy(rows, figures).values()].flatMap((equal) => {
    const [first] = equal;
    const policy = equal.map((row) => row.policy).join(", ");
    return first === undefined ? [] : [{ ...first, policy }];
  });
}

type FiguresRow = Pick<
  PolicyReport,
  | "costUsd"
  | "ratioToLimit"
  | "relativeCost"
  | "hitRate"
  | "coverage"
  | "readTokens"
  | "writeTokens"
  | "uncachedTokens"
>;

const costColumns: readonly Column<FiguresRow>[] = [
  { title: "dollars", align: "right", cell: ({ costUsd }) => formatUsd(costUsd) },
  { title: "x limit", align: "right", cell: ({ ratioToLimit }) => ratioToLimit.toFixed(3) },
  { title: "of none", align: "right", cell: ({ relativeCost }) => relativeCost.toFixed(4) },
  { title: "hit rate", align: "right", cell: ({ hitRate }) => formatPercent(hitRate) },
];

const policyColumns: readonly Column<PolicyReport>[] = [
  { title: "policy", cell: ({ policy }) => policy },
  ...costColumns,
  { title: "coverage", align: "right", cell: ({ coverage }) => formatPercent(coverage) },
  { title: "read", align: "right", cell: ({ readTokens }) => formatTokens(readTokens) },
  { title: "write 5m", align: "right", cell: ({ writeTokens }) => formatTokens(writeTokens["5m"]) },
  { title: "30m", align: "right", cell: ({ writeTokens }) => formatTokens(writeTokens["30m"]) },
  { title: "1h", align: "right", cell: ({ writeTokens }) => formatTokens(writeTokens["1h"]) },
  { title: "fresh", align: "right", cell: ({ uncachedTokens }) => formatTokens(uncachedTokens) },
  {
    title: "wasted",
    align: "right",
    cell: ({ wastedWriteTokens }) => formatTokens(wastedWriteTokens),
  },
  { title: "rewrites", align: "right", cell: ({ rewriteFactor }) => rewriteFactor.toFixed(2) },
];

/** Bills against policies over the same requests, with and without the breaks that recordings do not show. */
export function renderComparison({ summary: { comparison }, recorded }: ReplayReport): string {
  if (comparison === undefined) return "";
  const { requests, recordedUsd, limitUsd, limitWithBreaksUsd, policies } = comparison;
  const warm = recorded?.warmStartTokens ?? 0;
  const given =
    warm === 0
      ? ""
      : `; all are given the ${formatTokens(warm)} tokens that first requests found warm from elsewhere`;
  const rows: readonly ComparedRow[] = [
    ...joinEqual(policies, ({ costUsd, withBreaksUsd }) => `${costUsd} ${withBreaksUsd}`),
    { policy: "recorded", costUsd: null, withBreaksUsd: recordedUsd },
    { policy: "limit", costUsd: limitUsd, withBreaksUsd: limitWithBreaksUsd },
  ].toSorted((left, right) => left.withBreaksUsd - right.withBreaksUsd);
  return (
    renderTable(comparedColumns, rows) +
    `over the ${formatCount(requests, "request")} that have a bill${given}\n`
  );
}

type ComparedRow = Pick<ComparisonReport["policies"][number], "policy" | "withBreaksUsd"> & {
  readonly costUsd: number | null;
};

const comparedColumns: readonly Column<ComparedRow>[] = [
  { title: "against the bills", cell: ({ policy }) => policy },
  {
    title: "with the recorded breaks",
    align: "right",
    cell: ({ withBreaksUsd }) => formatUsd(withBreaksUsd),
  },
  {
    title: "as the file shows",
    align: "right",
    cell: ({ costUsd }) => (costUsd === null ? "-" : formatUsd(costUsd)),
  },
];

/** Providers that take no markers: what was billed, what their documents say, the limit and no caching. */
export function renderAutomatic({ automaticOnly }: ReplayReport): string {
  if (automaticOnly === undefined) return "";
  const { sessions, requests } = automaticOnly;
  return (
    `providers that take no markers: ${formatCount(sessions, "session")}, ${formatCount(requests, "request")}\n` +
    renderTable(automaticColumns, automaticRows(automaticOnly))
  );
}

interface AutomaticRow extends FiguresRow {
  readonly name: string;
  readonly requests: number;
}

function automaticRows(report: AutomaticReport): AutomaticRow[] {
  const { recorded, relativeCost, costUsd, ratioToLimit, inputTokens } = report;
  const plainUsd = relativeCost === 0 ? 0 : costUsd / relativeCost;
  const limitUsd = ratioToLimit === 0 ? 0 : costUsd / ratioToLimit;
  const none = {
    ...report,
    readTokens: 0,
    hitRate: 0,
    uncachedTokens: inputTokens,
    relativeCost: 1,
  };
  return [
    ...(recorded === undefined ? [] : [{ ...recorded, name: "recorded" }]),
    { ...report, name: "by their documents" },
    {
      ...none,
      name: "no caching",
      costUsd: plainUsd,
      ratioToLimit: limitUsd === 0 ? 0 : plainUsd / limitUsd,
    },
  ];
}

const automaticColumns: readonly Column<AutomaticRow>[] = [
  { title: "", cell: ({ name }) => name },
  { title: "requests", align: "right", cell: ({ requests }) => formatNumber(requests) },
  ...costColumns,
  { title: "read", align: "right", cell: ({ readTokens }) => formatTokens(readTokens) },
  { title: "fresh", align: "right", cell: ({ uncachedTokens }) => formatTokens(uncachedTokens) },
];
