// The first lines of a replay: what was paid, why it was too much, and where every file and request went.
import { formatCount, formatNumber, formatTokens, formatUsd } from "../../replay/format-figures.ts";
import type { Accounting, Places } from "../../replay/summary/accounting.ts";
import { headlineSentences } from "../../replay/summary/headline.ts";
import type { ReplayReport } from "../../replay/report.ts";
import type { CauseReport } from "../../replay/summary/summary.ts";
import { shortNames } from "../sessions/name-session.ts";
import { renderTable, type Column } from "../table.ts";
import { windowColumns } from "../window.ts";

/** A line for each sentence, so that none is lost in a long one. */
export function renderHeadline(report: ReplayReport): string {
  return `${headlineSentences(report).join("\n")}\n`;
}

/** In order of money. */
export function renderCauses(report: ReplayReport): string {
  const { causes } = report.summary;
  const shown = causes.filter(({ lostUsd, calls }) => calls > 0 || lostUsd !== 0);
  if (shown.length === 0) return "";
  const hasInferred = shown.some(({ first }) => first.evidence === "inferred");
  const note = hasInferred ? "* not in the recording; inferred from bills and replies\n" : "";
  return renderTable(causeColumns(namerOf(report)), shown) + note;
}

const causeColumns = (nameOf: (session: string) => string): readonly Column<CauseReport>[] => [
  { title: "lost", align: "right", cell: ({ lostUsd }) => formatUsd(lostUsd) },
  { title: "to", cell: ({ what, first }) => (first.evidence === "inferred" ? `${what} *` : what) },
  { title: "calls", align: "right", cell: ({ calls }) => formatNumber(calls) },
  { title: "tokens", align: "right", cell: ({ tokens }) => formatTokens(tokens) },
  { title: "do this", cell: ({ act }) => act },
  { title: "first seen", cell: ({ first }) => `${nameOf(first.session)}, call ${first.call}` },
];

/** On a terminal ids are short where that is unique, as in lists of sessions. */
function namerOf({ summary: { sessions } }: ReplayReport): (session: string) => string {
  if (windowColumns() === Number.POSITIVE_INFINITY) return (session) => session;
  const names = shortNames(sessions.map(({ session }) => session));
  return (session) => names.get(session) ?? session;
}

const sessionsShown = 5;

/** Where the money was lost; the page and --json have all sessions. */
export function renderSessions(report: ReplayReport): string {
  const { sessions } = report.summary;
  const nameOf = namerOf(report);
  const losing = sessions.filter(({ lostUsd }) => lostUsd >= 0.005);
  if (sessions.length < 2 || losing.length === 0) return "";
  const more = losing.length - sessionsShown;
  const rest = more > 0 ? `and ${formatCount(more, "session")} more; --json has all\n` : "";
  return (
    renderTable(
      [
        { title: "session", cell: ({ session }) => nameOf(session) },
        { title: "paid", align: "right", cell: ({ paid }) => formatUsd(paid.totalUsd) },
        { title: "lost", align: "right", cell: ({ lostUsd }) => formatUsd(lostUsd) },
        { title: "most of it to", cell: ({ topCause }) => topCause ?? "-" },
      ],
      losing.slice(0, sessionsShown),
    ) + rest
  );
}

/** 107 files = 76 + 16 + 15, and the same for requests. */
export function renderAccounting(
  { summary: { accounting } }: ReplayReport,
  seconds: number,
): string {
  const { files, requests } = accounting;
  const rate = Math.round(requests.all / Math.max(seconds, 0.001));
  return [
    `${formatCount(files.all, "file")}${partsOf(files)}`,
    `${formatCount(requests.all, "request")}${partsOf(requests)}`,
    ...reasonsOf(accounting),
    `${seconds.toFixed(1)} s, ${formatNumber(rate)} requests/s`,
    "",
  ].join("\n");
}

function partsOf({ all, compared, automatic, billed, unused }: Places): string {
  const parts = [
    [compared, "under every policy"],
    [automatic, "of providers that take no markers"],
    [billed, "as billed, without prompts"],
    [unused, "not used"],
  ] as const;
  const named = parts.filter(([count]) => count > 0);
  if (named.length === 1 && named[0]?.[0] === all) return `, all ${named[0][1]}`;
  return ` = ${named.map(([count, what]) => `${formatNumber(count)} ${what}`).join(" + ")}`;
}

function reasonsOf({ unusedFiles, unusedRequests }: Accounting): string[] {
  const files = unusedFiles.map(({ reason, count }) => `${formatCount(count, "file")}: ${reason}`);
  const requests = unusedRequests.map(
    ({ reason, count }) => `${formatCount(count, "request")}: ${reason}`,
  );
  return [...files, ...requests].map((line) => `  not used: ${line}`);
}
