// Cost per policy as bars with both limits. Positions are in per cent, so text keeps its size at any width.
import type { ReplayReport } from "../report.ts";
import { cheapestFirst } from "./cheapest.ts";
import { formatCount, formatUsd } from "./format-figures.ts";
import { escapeHtml } from "./in-page.ts";

export function plotCosts(report: ReplayReport): string {
  const bars = toBars(report);
  const { limit, limitWarm } = report;
  const costs = [...bars.map(({ costUsd }) => costUsd), limit.costUsd, limitWarm.costUsd];
  const costUsdMax = Math.max(...costs);
  const percentOf = (costUsd: number): number =>
    costUsdMax === 0 ? 0 : (costUsd / costUsdMax) * 100;
  const height = headHeight + bars.length * rowHeight;
  const label = `Cost of each policy against the limit of ${formatUsd(limit.costUsd)}`;
  const lines = [
    { kind: "limit", name: "limit", costUsd: limit.costUsd },
    { kind: "limit-warm", name: "with keep-warm", costUsd: limitWarm.costUsd },
  ];
  return [
    `<svg id="costs" width="100%" height="${height}" role="img" aria-label="${escapeHtml(label)}">`,
    ...bars.map((bar, row) => drawBar(bar, row, percentOf(bar.costUsd))),
    ...lines.map((line, row) => drawLimit(line, row, percentOf(line.costUsd), height)),
    // Labels are drawn last, so that no line crosses them.
    ...bars.map(labelBar),
    "</svg>",
  ].join("\n");
}

const lineHeight = 16;
const headHeight = 2 * lineHeight + 6;
const rowHeight = 40;

interface Bar {
  readonly kind: "policy" | "recorded";
  readonly name: string;
  readonly costUsd: number;
  readonly ratioToLimit: number;
}

function toBars({ policies, recorded, requests }: ReplayReport): readonly Bar[] {
  const bars = cheapestFirst(policies).map(({ policy, costUsd, ratioToLimit }) => ({
    kind: "policy" as const,
    name: policy,
    costUsd,
    ratioToLimit,
  }));
  if (recorded === undefined) return bars;
  const { costUsd, ratioToLimit } = recorded;
  const isWhole = recorded.requests === requests;
  const name = isWhole ? "recorded" : `recorded, ${formatCount(recorded.requests, "request")}`;
  return [...bars, { kind: "recorded", name, costUsd, ratioToLimit }];
}

function drawBar(bar: Bar, row: number, percent: number): string {
  const y = headHeight + row * rowHeight + lineHeight + 4;
  return (
    `<rect class="bar ${bar.kind}" x="0" y="${y}" width="${percent.toFixed(3)}%" height="14">` +
    `<title>${describeBar(bar)}</title></rect>`
  );
}

function labelBar(bar: Bar, row: number): string {
  return `<text x="0" y="${headHeight + row * rowHeight + lineHeight}">${describeBar(bar)}</text>`;
}

function describeBar({ name, costUsd, ratioToLimit }: Bar): string {
  return escapeHtml(`${name}  ${formatUsd(costUsd)}  ${ratioToLimit.toFixed(3)} × limit`);
}

function drawLimit(
  { kind, name, costUsd }: { kind: string; name: string; costUsd: number },
  row: number,
  percent: number,
  height: number,
): string {
  const x = percent.toFixed(3);
  const y = (row + 1) * lineHeight - 3;
  const [anchor, shift] = percent < 50 ? ["start", 5] : ["end", -5];
  return (
    `<g class="${kind}"><line x1="${x}%" x2="${x}%" y1="${y - 10}" y2="${height}"/>` +
    `<text x="${x}%" dx="${shift}" y="${y}" text-anchor="${anchor}">${name} ${formatUsd(costUsd)}</text></g>`
  );
}
