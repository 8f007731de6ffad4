// /context: a bar of the window, then what each tier holds.
import { formatPercent, formatTokens } from "../../../replay/format-figures.ts";
import type { ContextView, PartView, TierView } from "../state/context-view.ts";
import { createPaint, type RenderOptions } from "./paint.ts";
import { toPlainLine } from "../words/plain-text.ts";
import { cutToWidth, padToWidth, widthOf, wrapLine } from "../words/text-width.ts";

export function renderContext(view: ContextView, options: RenderOptions): readonly string[] {
  const { windowTokens, usedTokens, tiers } = view;
  const paint = createPaint(options);
  const share = formatPercent(usedTokens / windowTokens);
  const width = Math.min(options.width, widthMax);
  return [
    paint(
      "bold",
      `Context: ${formatTokens(usedTokens)} of ${formatTokens(windowTokens)} tokens, ${share}`,
    ),
    renderBar(view, { ...options, width }),
    ...tiers.flatMap((tier) => renderTier(tier, view, { ...options, width })),
    rowOf("   free for this turn", view.freeTokens, windowTokens, width),
    rowOf("   kept for replies and results", view.reservedTokens, windowTokens, width),
    ...footnotes.flatMap((note) => wrapLine(note, options.width)).map((line) => paint("dim", line)),
  ];
}

const footnotes = [
  "T4 (this turn's message) and T5 (what changes with every call) come with each call.",
  "* added by Strata; everything else is yours.",
];
const widthMax = 76;
const partsShown = 5;

/** Each tier has its own mark, so that the bar is readable without colours. */
const looks = {
  T0: { mark: "█", style: "blue" },
  T1: { mark: "▓", style: "cyan" },
  T2: { mark: "▒", style: "magenta" },
  T3: { mark: "■", style: "green" },
} as const;

/** Every used part gets at least one cell; the free part gets the rest. */
function renderBar(
  { windowTokens, tiers, reservedTokens }: ContextView,
  options: RenderOptions,
): string {
  const paint = createPaint(options);
  const cells = options.width - 2;
  let left = cells;
  const cellsOf = (tokens: number): number => {
    const count = tokens === 0 ? 0 : Math.max(1, Math.round((tokens / windowTokens) * cells));
    const given = Math.min(left, count);
    left -= given;
    return given;
  };
  const used = tiers.map(({ tier, tokens }) => {
    const { mark, style } = looks[tier];
    return paint(style, mark.repeat(cellsOf(tokens)));
  });
  const reserved = paint("dim", "~".repeat(cellsOf(reservedTokens)));
  return `[${used.join("")}${paint("dim", "·".repeat(left))}${reserved}]`;
}

function renderTier(
  { tier, name, tokens, parts }: TierView,
  { windowTokens }: ContextView,
  options: RenderOptions,
): readonly string[] {
  const paint = createPaint(options);
  const { mark, style } = looks[tier];
  const row = rowOf(`${tier} ${name}`, tokens, windowTokens, options.width - 2);
  return [
    `${paint(style, mark)} ${paint("bold", row)}`,
    ...renderParts(parts, options.width - 4).map((line) => paint("dim", `    ${line}`)),
  ];
}

/** In as few lines as possible; no part is broken across lines. */
function renderParts(parts: readonly PartView[], width: number): readonly string[] {
  const lines: string[] = [];
  for (const { name, tokens, isOurs = false } of shownParts(parts)) {
    const shown = `${toPlainLine(name)}${isOurs ? "*" : ""} ${formatTokens(tokens)}`;
    const part = cutToWidth(shown, width);
    const last = lines.at(-1);
    const longer = `${last} · ${part}`;
    if (last === undefined || widthOf(longer) > width) lines.push(part);
    else lines[lines.length - 1] = longer;
  }
  return lines;
}

/** The largest ones, and everything that Strata added. */
function shownParts(parts: readonly PartView[]): readonly PartView[] {
  if (parts.length <= partsShown) return parts;
  const isShown = ({ isOurs = false }: PartView, at: number): boolean =>
    isOurs || at < partsShown - 1;
  const rest = parts.filter((part, at) => !isShown(part, at));
  if (rest.length === 0) return parts;
  const tokens = rest.reduce((sum, part) => sum + part.tokens, 0);
  return [...parts.filter(isShown), { name: `${rest.length} more`, tokens }];
}

function rowOf(name: string, tokens: number, windowTokens: number, width: number): string {
  const figures = `${formatTokens(tokens).padStart(8)}${formatPercent(tokens / windowTokens).padStart(9)}`;
  const room = Math.max(10, width - figures.length);
  return `${padToWidth(cutToWidth(name, room), room)}${figures}`;
}
