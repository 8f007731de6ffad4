// Renders a replay as one self-contained page. It sends no request and runs only its own script.
import { hash } from "node:crypto";
import type { CallDetail } from "../call-detail.ts";
import type { ReplayReport } from "../report.ts";
import { cheapestIndex } from "./cheapest.ts";
import { renderCrossSection } from "./cross-section.ts";
import { formatCount, formatNumber, formatUsd } from "./format-figures.ts";
import { escapeHtml } from "./in-page.ts";
import { renderLeftovers } from "./leftovers.ts";
import type { PageOptions } from "./page-data.ts";
import { pageScript } from "./page-script.ts";
import { pageStyle } from "./page-style.ts";
import { plotCosts } from "./plot-costs.ts";
import { renderGroups, renderMisses, renderPolicies } from "./policy-tables.ts";

/** Deterministic. Contains no session content unless excerpts are on. */
export function renderReplayPage(
  report: ReplayReport,
  details: readonly CallDetail[],
  options: PageOptions = {},
): string {
  const script = details.length === 0 ? null : pageScript();
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${contentPolicy(script)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Strata replay</title>
<link rel="icon" href="data:,">
<style>${pageStyle}</style>
</head>
<body>
<header>
<h1>Replay</h1>
${renderFacts(report, details)}
<p id="best">${escapeHtml(describeBest(report))}</p>
${options.excerpts === true ? `<p id="excerpts">${excerptsNote}</p>\n` : ""}</header>
<main>
${renderParts(report, details, options)}
</main>
${script === null ? "" : `<script>${script}</script>\n`}</body>
</html>
`;
}

/** Warns people before they share the page. */
const excerptsNote =
  "This page holds excerpts of the recorded sessions, in the tables of misses: look at it before you share it.";

function contentPolicy(script: string | null): string {
  const rules = [
    "default-src 'none'",
    `style-src '${hashOf(pageStyle)}'`,
    ...(script === null ? [] : [`script-src '${hashOf(script)}'`]),
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
  ];
  return rules.join("; ");
}

function hashOf(text: string): string {
  return `sha256-${hash("sha256", text, "base64")}`;
}

function renderFacts(report: ReplayReport, details: readonly CallDetail[]): string {
  const { sessions, requests, limit, limitWarm } = report;
  const models = [...Map.groupBy(details, ({ model }) => model)]
    .toSorted(([, left], [, right]) => right.length - left.length)
    .map(([model, calls]) => `${model} (${formatCount(calls.length, "call")})`);
  const facts = [
    ["sessions", formatNumber(sessions)],
    ["requests", formatNumber(requests)],
    ...(models.length === 0 ? [] : [["models", models.join(", ")]]),
    ["limit", `${formatUsd(limit.costUsd)}, ${limit.relativeCost.toFixed(4)} of no caching`],
    ["limit with keep-warm", formatUsd(limitWarm.costUsd)],
  ];
  const items = facts.map(
    ([name = "", value = ""]) => `<div><dt>${name}</dt><dd>${escapeHtml(value)}</dd></div>`,
  );
  return `<dl class="facts">${items.join("")}</dl>`;
}

function describeBest({ policies, limit }: ReplayReport): string {
  const best = policies[cheapestIndex(policies)];
  if (best === undefined) return "No policy was replayed.";
  const equal = policies
    .filter((each) => each !== best && each.costPicoUsd === best.costPicoUsd)
    .map(({ policy }) => policy);
  return (
    `The best policy is ${best.policy} at ${formatUsd(best.costUsd)}, ` +
    `${best.ratioToLimit.toFixed(3)} × the limit of ${formatUsd(limit.costUsd)}` +
    `${equal.length === 0 ? "" : `; as cheap: ${equal.join(", ")}`}.`
  );
}

function renderParts(
  report: ReplayReport,
  details: readonly CallDetail[],
  options: PageOptions,
): string {
  const policies = `${renderPolicies(report)}\n<h3>Misses by cause</h3>\n${renderMisses(report)}`;
  const parts = [
    section("costs", "Cost", plotCosts(report) + describeRecorded(report)),
    section("policies", "Policies", policies),
    details.length === 0 ? "" : renderCrossSection(report, details, options),
    report.groups.length === 0 ? "" : section("groups", "Groups", renderGroups(report)),
    renderLeftovers(report),
  ];
  return parts.filter((part) => part !== "").join("\n");
}

function section(id: string, title: string, content: string): string {
  return `<section aria-labelledby="${id}-title">
<h2 id="${id}-title">${title}</h2>
${content}
</section>`;
}

function describeRecorded({ recorded }: ReplayReport): string {
  if (recorded === undefined) return "";
  const { requests, ratioToLimit, warmStartTokens } = recorded;
  return (
    `\n<p id="recorded">Recorded is what the provider reported: ${ratioToLimit.toFixed(3)} × the limit of its ` +
    `${formatCount(requests, "request")}; ${formatCount(warmStartTokens, "token")} of first requests were warm ` +
    "from elsewhere.</p>"
  );
}
