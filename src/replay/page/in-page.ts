// Draws the cross-section, here and in the page. The page's script is the text of these functions, so they may
// use each other and types, but no imports and no other values of this module.
import type { PageData, PageSession } from "./page-data.ts";

export function drawCrossSection(data: PageData, sessionIndex: number, policy: number): string {
  const session = data.sessions[sessionIndex];
  if (session === undefined) return "";
  const [top, left, plotHeight, breakWidth, longGapMs] = [8, 52, 240, 16, 300_000];
  const prompts = session.gapsMs.map((_, call) => promptOf(session, call));
  const tokensMax = Math.max(1, ...prompts);
  const pitch = Math.max(3, Math.min(28, Math.floor(900 / prompts.length)));
  const parts: string[] = [];
  let x = left;
  for (const [call, gapMs] of session.gapsMs.entries()) {
    if (gapMs > longGapMs) {
      const middle = x + breakWidth / 2;
      parts.push(
        `<g class="break"><line x1="${middle}" x2="${middle}" y1="${top}" y2="${top + plotHeight}"/>` +
          `<text transform="translate(${middle + 4} ${top + 4}) rotate(-90)">${formatDuration(gapMs)}</text></g>`,
      );
      x += breakWidth;
    }
    const frame = { x, top, plotHeight, width: pitch - 1, perToken: plotHeight / tokensMax };
    parts.push(drawColumn(data, session, policy, call, frame));
    x += pitch;
  }
  const axis = [1, 0.5, 0].map((share) => {
    const y = top + plotHeight * (1 - share);
    return (
      `<line class="grid" x1="${left}" x2="${x}" y1="${y}" y2="${y}"/>` +
      `<text class="tick" x="${left - 6}" y="${y + 4}">${formatTokens(Math.round(tokensMax * share))}</text>`
    );
  });
  const label = `${prompts.length} calls of ${session.id} under ${data.policies[policy] ?? ""}`;
  return (
    `<svg width="${x + 4}" height="${top + plotHeight + 14}" role="img" aria-label="${escapeHtml(label)}">` +
    `${axis.join("")}${parts.join("")}</svg>`
  );
}

/** One call, first token at the bottom. A miss has a line and its cause. */
function drawColumn(
  data: PageData,
  session: PageSession,
  policy: number,
  call: number,
  frame: { x: number; top: number; plotHeight: number; width: number; perToken: number },
): string {
  const { x, top, plotHeight, width, perToken } = frame;
  const missed = session.outcomes[policy]?.misses.some(([at]) => at === call) === true;
  let y = top + plotHeight;
  const rects = toSegments(session, policy, call).map(({ band, state, tokens }) => {
    const height = tokens * perToken;
    y -= height;
    return (
      `<rect class="${band} ${state}" x="${x}" y="${y.toFixed(2)}" ` +
      `width="${width}" height="${height.toFixed(2)}"/>`
    );
  });
  const line = `<line class="miss" x1="${x}" x2="${x}" y1="${top}" y2="${top + plotHeight + 6}"/>`;
  const isSide = session.threads[session.threadOf[call] ?? 0] !== "";
  const foot = `<rect class="side" x="${x}" y="${top + plotHeight + 9}" width="${width}" height="3"/>`;
  return (
    `<g class="call" data-call="${call + 1}"><title>${escapeHtml(describeCall(data, session, policy, call))}</title>` +
    `<rect class="whole" x="${x}" y="${top}" width="${width}" height="${plotHeight}"/>` +
    `${rects.join("")}${missed ? line : ""}${isSide ? foot : ""}</g>`
  );
}

/** A prompt from its first token: read, then written, then fresh, split at tier ends. */
export function toSegments(
  session: PageSession,
  policy: number,
  call: number,
): { band: string; state: string; tokens: number }[] {
  const { read, written } = session.outcomes[policy] ?? { read: [], written: [] };
  const readEnd = read[call] ?? 0;
  const ends = { read: readEnd, written: readEnd + (written[call] ?? 0), fresh: Infinity };
  let at = 0;
  return session.bands.flatMap((tokens, index) => {
    const band = ["tools", "system", "history", "rest"][index] ?? "rest";
    const bandEnd = at + (tokens[call] ?? 0);
    return Object.entries(ends).flatMap(([state, end]) => {
      const until = Math.min(bandEnd, end);
      if (until <= at) return [];
      const segment = { band, state, tokens: until - at };
      at = until;
      return [segment];
    });
  });
}

function promptOf({ bands }: PageSession, call: number): number {
  return addUp(bands.map((tokens) => tokens[call] ?? 0));
}

function describeCall(data: PageData, session: PageSession, policy: number, call: number): string {
  const { read, written, misses } = session.outcomes[policy] ?? {
    read: [],
    written: [],
    misses: [],
  };
  const [readTokens, writtenTokens] = [read[call] ?? 0, written[call] ?? 0];
  const sinceMs = addUp(session.gapsMs.slice(0, call + 1));
  const prompt = promptOf(session, call);
  const fresh = Math.max(0, prompt - readTokens - writtenTokens);
  const thread = session.threads[session.threadOf[call] ?? 0] ?? "";
  const bands = ["tools", "system", "history", "in no tier"].map(
    (name, index) => `${name} ${formatTokens(session.bands[index]?.[call] ?? 0)}`,
  );
  return [
    `call ${call + 1} after ${formatDuration(sinceMs)}, ${data.models[session.models[call] ?? 0] ?? ""}`,
    ...(thread === "" ? [] : [`thread ${thread}`]),
    `${formatTokens(prompt)} tokens: ${bands.join(", ")}`,
    `read ${formatTokens(readTokens)}, written ${formatTokens(writtenTokens)}, fresh ${formatTokens(fresh)}`,
    ...misses
      .filter(([at]) => at === call)
      .map(([, cause, tokens]) => `missed ${formatTokens(tokens)}: ${data.causes[cause] ?? ""}`),
  ].join("\n");
}

export function summariseSession(data: PageData, sessionIndex: number, policy: number): string {
  const session = data.sessions[sessionIndex];
  const outcome = session?.outcomes[policy];
  if (session === undefined || outcome === undefined) return "";
  const shown = session.gapsMs.length;
  const prompt = addUp(session.bands.flat());
  const [read, written] = [addUp(outcome.read), addUp(outcome.written)];
  const shares = { read, written, fresh: Math.max(0, prompt - read - written) };
  const shareTexts = Object.entries(shares).map(
    ([state, tokens]) => `${state} ${((tokens / Math.max(1, prompt)) * 100).toFixed(1)} %`,
  );
  const calls = session.callCount > shown ? `the first ${shown} of ${session.callCount}` : shown;
  const misses = `${outcome.misses.length} ${outcome.misses.length === 1 ? "miss" : "misses"}`;
  return escapeHtml(
    `${session.file}: ${calls} ${session.callCount === 1 ? "call" : "calls"}, ` +
      `${formatTokens(prompt)} prompt tokens; ${shareTexts.join(", ")}; ${misses}.`,
  );
}

export function listMisses(data: PageData, sessionIndex: number, policy: number): string {
  const misses = data.sessions[sessionIndex]?.outcomes[policy]?.misses ?? [];
  if (misses.length === 0) return "<tr><td>No call missed.</td></tr>";
  const { excerpts } = data;
  const isShown = excerpts !== undefined && misses.some(([, , , place]) => place !== undefined);
  const rows = misses.map(([call, cause, tokens, place]) => {
    const excerpt = place === undefined ? "(not in the recording)" : excerpts?.[place];
    return (
      `<tr><th scope="row">${call + 1}</th><td>${escapeHtml(data.causes[cause] ?? "")}</td>` +
      `<td class="number">${formatTokens(tokens)}</td>` +
      `${isShown ? `<td class="excerpt">${escapeHtml(excerpt ?? "")}</td>` : ""}</tr>`
    );
  });
  const without = '<tr><td colspan="3">No excerpts: this recording holds no content.</td></tr>';
  return (
    '<tr><th scope="col">call</th><th scope="col">cause</th><th scope="col" class="number">tokens</th>' +
    `${isShown ? '<th scope="col">first block that was not read</th>' : ""}</tr>` +
    `${excerpts !== undefined && !isShown ? without : ""}${rows.join("")}`
  );
}

function addUp(numbers: readonly number[]): number {
  return numbers.reduce((sum, each) => sum + each, 0);
}

/** 12,345,678 as 12.3M, 45,678 as 45.7k. */
export function formatTokens(tokens: number): string {
  if (tokens >= 1_000_000) return `${(tokens / 1_000_000).toFixed(1)}M`;
  return tokens >= 1000 ? `${(tokens / 1000).toFixed(1)}k` : String(tokens);
}

export function formatDuration(ms: number): string {
  const minutes = Math.round(ms / 60_000);
  if (minutes < 1) return `${Math.round(ms / 1000)} s`;
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48
    ? `${hours} h ${minutes % 60} min`
    : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** Safe as text and inside quoted attributes. */
export function escapeHtml(text: string): string {
  const names = new Map([
    ["&", "amp"],
    ["<", "lt"],
    [">", "gt"],
    ['"', "quot"],
    ["'", "#39"],
  ]);
  return text.replace(/[&<>"']/g, (each) => `&${names.get(each) ?? ""};`);
}

export const inPageFunctions: readonly ((...parts: never[]) => unknown)[] = [
  drawCrossSection,
  drawColumn,
  toSegments,
  promptOf,
  describeCall,
  summariseSession,
  listMisses,
  addUp,
  formatTokens,
  formatDuration,
  escapeHtml,
];
