// The status line: how full the window is, what came from the cache, the cost, and what caching saved.
import { hitRate } from "../../../core/message/usage.ts";
import { formatUsdRounded } from "../../../core/models/pico-usd.ts";
import { formatTokens } from "../../../replay/format-figures.ts";
import { formatCost } from "../../format-cost.ts";
import { createPaint, type RenderOptions } from "./paint.ts";
import { toPlainLine } from "../words/plain-text.ts";
import type { ChatState, ShownTurn } from "../state/state.ts";
import { cutToWidth } from "../words/text-width.ts";

/** Parts that do not fit are left out from the right. */
export function renderStatus(
  { about, totals, turn, lastMiss, isQuitting }: ChatState,
  options: RenderOptions,
): string {
  const { told, callCount, costPicoUsd, unpricedCount, savedPicoUsd, contextTokens } = totals;
  const { prefillMs } = totals;
  // A server of one's own costs time, not money.
  const isFree = prefillMs !== null && costPicoUsd === 0n && unpricedCount === 0;
  const savedPart = callCount === 0 || savedPicoUsd === null ? [] : [saved(savedPicoUsd)];
  const share = Math.round((contextTokens / about.windowTokens) * 100);
  const cached = hitRate(told);
  const parts = [
    ...(isQuitting ? ["Ctrl-C again quits"] : []),
    ...(turn === null ? [] : [doing(turn)]),
    `${formatTokens(contextTokens)} of ${formatTokens(about.windowTokens)} (${share} %)`,
    ...(callCount === 0 || cached === null ? [] : [`${Math.round(cached * 100)} % cached`]),
    ...(lastMiss === null ? [] : [lastMiss]),
    ...(isFree
      ? [`${(prefillMs / 1000).toFixed(1)} s of reading`]
      : [formatCost(costPicoUsd, unpricedCount), ...savedPart]),
    `${toPlainLine(about.model)}${about.isSimulated ? ", simulated" : ""}`,
  ];
  const fitting = parts.filter(
    (_, index) => index === 0 || parts.slice(0, index + 1).join(" · ").length <= options.width - 1,
  );
  return createPaint(options)("dim", cutToWidth(fitting.join(" · "), options.width - 1));
}

function saved(pico: bigint): string {
  return pico < 0n ? `${formatUsdRounded(-pico)} not yet saved` : `saved ${formatUsdRounded(pico)}`;
}

function doing({ phase, isThinking, isStopping, seconds }: ShownTurn): string {
  const what = isStopping ? "stopping" : isThinking ? "thinking" : words[phase];
  return seconds < 2 ? what : `${what}, ${seconds} s`;
}

const words = {
  preparing: "preparing",
  compacting: "compacting",
  calling: "working",
  "running tools": "running tools",
  over: "done",
} as const;
