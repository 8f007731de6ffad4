// A planned compaction as text: what is compacted and kept, what it costs, and the break-even.
import { formatUsdRounded } from "../../core/models/pico-usd.ts";
import { formatCount, formatTokens } from "../../replay/format-figures.ts";
import type {
  NothingToCompact,
  Planned,
  PlannedCompaction,
  PlannedMoney,
} from "./planned-compaction.ts";
import { toPrintable } from "../ledger/render-ledger.ts";
import { renderFacts } from "../table.ts";

export function renderPlan(planned: Planned): string {
  if (planned.kind === "compaction") return renderCompaction(planned);
  return renderNothing(planned) + (planned.tailNotice === null ? "" : `${planned.tailNotice}.\n`);
}

/** The question before anything is changed. */
export function askToCompact(planned: PlannedCompaction): string {
  const { sessionId, writer } = planned;
  const how = writer === null ? "without a model" : `with a summary by ${writer}`;
  return toPrintable(`Compact ${describeTurns(planned)} of ${sessionId} ${how}?`);
}

function renderCompaction(planned: PlannedCompaction): string {
  const { tokensBefore, tokensAfter, money } = planned;
  return renderFacts([
    ["session", toPrintable(`${planned.sessionId}, ${planned.model}`)],
    ["compacts", describeCompacted(planned)],
    ["into", describeNotes(planned)],
    ["keeps", describeKept(planned)],
    ["tail", planned.tailNotice],
    [
      "prompt",
      `${formatTokens(tokensBefore)} → about ${formatTokens(tokensAfter)} tokens per call`,
    ],
    ["price", money === null ? "not known for this model" : describePrice(money)],
    ["costs now", money === null ? null : describeCost(money)],
    ["break-even", describeBreakEven(planned)],
  ]);
}

function describeCompacted(planned: PlannedCompaction): string {
  const { messagesCompacted, compactedTokens } = planned;
  return `${describeTurns(planned)}: ${formatCount(messagesCompacted, "message")}, ${formatTokens(compactedTokens)} tokens`;
}

function describeTurns({ turnsCompacted, isTurnCut }: PlannedCompaction): string {
  if (!isTurnCut) return formatCount(turnsCompacted, "turn");
  return turnsCompacted === 0
    ? "the older part of a turn"
    : `${formatCount(turnsCompacted, "turn")} and the older part of another`;
}

function describeNotes({ writer, notesTokens }: PlannedCompaction): string {
  const what = writer === null ? "an outline made without a model" : `a summary by ${writer}`;
  return toPrintable(
    `${what} and an index of exact names, about ${formatTokens(notesTokens)} tokens`,
  );
}

function describeKept(planned: PlannedCompaction): string {
  const { turnsKept, messagesKept, keptTokens, firstKeptTurnId, foundationTokens } = planned;
  const turns = `${formatCount(turnsKept, "turn")} from ${toPrintable(firstKeptTurnId)} on`;
  const size = `${formatCount(messagesKept, "message")}, ${formatTokens(keptTokens)} tokens`;
  return `${turns}: ${size}; tools and system text, ${formatTokens(foundationTokens)}`;
}

function describePrice({ before, after }: PlannedMoney): string {
  const cached = `${usd(before.cachedPicoUsd)} → ${usd(after.cachedPicoUsd)} per call from the cache`;
  return `${cached}, ${usd(before.uncachedPicoUsd)} → ${usd(after.uncachedPicoUsd)} without it`;
}

function describeCost(money: PlannedMoney): string {
  const { summaryPicoUsd, rewritePicoUsd, costNowPicoUsd } = money;
  const summary = summaryPicoUsd === 0n ? [] : [`${usd(summaryPicoUsd)} for the summary`];
  const rewrite =
    rewritePicoUsd <= 0n
      ? `the next call is ${usd(-rewritePicoUsd)} cheaper immediately`
      : `${usd(rewritePicoUsd)} because the next call is not in the cache`;
  const parts = [...summary, rewrite].join(", ");
  return costNowPicoUsd <= 0n ? `nothing: ${parts}` : `${usd(costNowPicoUsd)}: ${parts}`;
}

function describeBreakEven(planned: PlannedCompaction): string {
  const { breakEvenCalls: calls, breakEvenTurns, callsLeft, gainFactor, money } = planned;
  if (calls === null) return "never: later calls are not cheaper";
  if (calls === 0) return "immediately";
  const turns = breakEvenTurns === null ? "" : ` (about ${formatCount(breakEvenTurns, "turn")})`;
  const saving = money === null ? "" : `, each ${usd(money.savingPerCallPicoUsd)} cheaper`;
  const more =
    gainFactor === null
      ? ""
      : `; ${formatCount(callsLeft, "call")} more would save ${describeShare(gainFactor)}`;
  return `after ${formatCount(calls, "call")}${turns}${saving}${more}`;
}

function describeShare(factor: number): string {
  return factor < 1
    ? `${Math.floor(factor * 100)} % of the cost`
    : `the cost ${factor.toFixed(1)} times`;
}

function renderNothing(planned: NothingToCompact): string {
  const { sessionId, why, turns, historyTokens, keepTokens } = planned;
  const size = `${formatCount(turns, "turn")} with ${formatTokens(historyTokens)} tokens`;
  const head = `Nothing to compact in ${toPrintable(sessionId)}:`;
  switch (why) {
    case "too short":
      return `${head} it has ${size}, and the latest ${formatTokens(keepTokens)} are always kept.\n`;
    case "no place":
      return `${head} it has ${size}, and no part before the latest ${formatTokens(keepTokens)} can be cut off.\n`;
    case "no gain":
      return `${head} ${formatTokens(planned.tokensBefore ?? 0)} tokens per call would become about ${formatTokens(planned.tokensAfter ?? 0)}. It has ${size}, and the latest ${formatTokens(keepTokens)} are always kept.\n`;
  }
}

function usd(picoUsd: bigint): string {
  return formatUsdRounded(picoUsd);
}
