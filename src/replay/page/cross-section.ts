// The chart of one session: a column per call, a band per tier. The page's script redraws it.
import type { CallDetail } from "../call-detail.ts";
import type { ReplayReport } from "../report.ts";
import { formatCount } from "./format-figures.ts";
import { drawCrossSection, escapeHtml, listMisses, summariseSession } from "./in-page.ts";
import {
  callsMax,
  toPageData,
  type LeftOut,
  type PageData,
  type PageOptions,
} from "./page-data.ts";

export function renderCrossSection(
  report: ReplayReport,
  details: readonly CallDetail[],
  options: PageOptions,
): string {
  const { data, leftOut } = toPageData(report, details, options);
  const { sessions, best } = data;
  return `<section aria-labelledby="cross-section-title">
<h2 id="cross-section-title">Cross-section</h2>
<p>One column per call, its first token at the bottom. Tools, then system text, then history, each paler than the
one before; palest is what belongs to no tier. A line marks a miss, a dashed one a pause of more than five minutes, a
bar below the axis a call of a side thread. Point at a column for its figures.</p>
<p class="legend"><span class="read">read</span> <span class="written">written</span> <span class="fresh">fresh</span></p>
<p id="choices" hidden>
<label>session <select id="session-choice">${toOptions(sessions.map(labelSession), 0)}</select></label>
<label>policy <select id="policy-choice">${toOptions(data.policies, best)}</select></label>
</p>
<noscript><p>Without JavaScript: the session with the most calls under ${escapeHtml(data.policies[best] ?? "no policy")}.</p></noscript>
<p id="cross-section-summary" aria-live="polite">${summariseSession(data, 0, best)}</p>
<div id="cross-section" class="scroll" tabindex="0" role="region" aria-label="Cross-section">${drawCrossSection(data, 0, best)}</div>
<details><summary>Misses of this session</summary>
<div class="scroll" tabindex="0" role="region" aria-label="Misses of this session"><table id="cross-section-misses">${listMisses(data, 0, best)}</table></div>
</details>
${describeLeftOut(leftOut, sessions.length)}
<script type="application/json" id="replay-data">${toInertJson(data)}</script>
</section>`;
}

/** JSON that cannot end its HTML element. */
export function toInertJson(data: PageData): string {
  return JSON.stringify(data).replaceAll("<", "\\u003c");
}

function toOptions(labels: readonly string[], chosen: number): string {
  return labels
    .map(
      (label, index) =>
        `<option value="${index}"${index === chosen ? " selected" : ""}>${escapeHtml(label)}</option>`,
    )
    .join("");
}

function labelSession({ id, callCount }: PageData["sessions"][number]): string {
  return `${id} (${formatCount(callCount, "call")})`;
}

function describeLeftOut({ sessions, calls }: LeftOut, shown: number): string {
  if (calls === 0) return "";
  return (
    `<p id="left-out">To keep this page small it holds the ${formatCount(shown, "session")} with the most calls and ` +
    `the first ${callsMax} calls of each. Left out: ${formatCount(sessions, "session")}, ` +
    `${formatCount(calls, "call")}. The figures above count all of them.</p>`
  );
}
