// Lists what was reported apart, replaced or skipped.
import type { ReplayReport } from "../report.ts";
import { formatCount, formatPercent, formatUsd } from "./format-figures.ts";
import { escapeHtml } from "./in-page.ts";

/** Empty if there is nothing to list. */
export function renderLeftovers(report: ReplayReport): string {
  const { standIns, skipped } = report;
  const parts = [
    describeAutomatic(report),
    describeBilled(report),
    listCounts("stand-ins", "Models that stand in for others", standIns, "request"),
    listCounts("skipped", "Skipped", skipped, "time"),
    listPlaces(report),
  ].filter((part) => part !== "");
  if (parts.length === 0) return "";
  return `<section aria-labelledby="apart-title">
<h2 id="apart-title">Apart from the figures</h2>
${parts.join("\n")}
</section>`;
}

function describeAutomatic({ automaticOnly }: ReplayReport): string {
  if (automaticOnly === undefined) return "";
  const { sessions, requests, costUsd, hitRate, recorded } = automaticOnly;
  const recordedText = recorded === undefined ? "" : `, recorded ${formatUsd(recorded.costUsd)}`;
  return (
    `<p id="automatic-only">${formatCount(sessions, "session")} (${formatCount(requests, "request")}) of providers ` +
    `that take no markers: ${formatUsd(costUsd)}${recordedText}, hit rate ${formatPercent(hitRate)}.</p>`
  );
}

function describeBilled({ billedOnly }: ReplayReport): string {
  if (billedOnly === undefined) return "";
  const { sessions, requests, costUsd, hitRate } = billedOnly;
  return (
    `<p id="billed-only">${formatCount(sessions, "session")} (${formatCount(requests, "request")}) without prompts, as ` +
    `billed: ${formatUsd(costUsd)}, hit rate ${formatPercent(hitRate)}. No policy can be tried on them.</p>`
  );
}

function listCounts(
  id: string,
  title: string,
  counts: ReplayReport["skipped"],
  what: string,
): string {
  if (counts.length === 0) return "";
  const items = counts.map(
    ({ reason, count }) => `<li>${escapeHtml(`${reason} (${formatCount(count, what)})`)}</li>`,
  );
  return `<h3>${title}</h3>\n<ul id="${id}">${items.join("\n")}</ul>`;
}

const placesShown = 100;

function listPlaces({ skippedWhere }: ReplayReport): string {
  if (skippedWhere.length === 0) return "";
  const items = skippedWhere
    .slice(0, placesShown)
    .map(({ file, line, reason }) =>
      escapeHtml(`${file}${line === null ? "" : `:${line}`} ${reason}`),
    );
  const more = skippedWhere.length - placesShown;
  if (more > 0) items.push(`and ${more} more; --json names them`);
  return (
    "<details><summary>Where</summary>" +
    `<ul id="skipped-where">${items.map((item) => `<li>${item}</li>`).join("\n")}</ul></details>`
  );
}
