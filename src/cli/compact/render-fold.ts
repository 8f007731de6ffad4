// A fold as text: what became of it, what stands for the folded part, and how to get back what it hides.
import { styleText } from "node:util";
import { decodeIndex } from "../../core/compaction/index/fold-index.ts";
import type { FoldDetails } from "../../core/ledger/fold-record.ts";
import { formatUsdRounded } from "../../core/models/pico-usd.ts";
import { formatCount } from "../../replay/page/format-figures.ts";
import { formatDuration, formatTokens } from "../../replay/page/in-page.ts";
import { formatTime, toPrintable } from "../ledger/render-ledger.ts";
import { renderFacts } from "../table.ts";

/** A fold with the id of its turn. */
export interface ShownFold extends FoldDetails {
  readonly turnId: string;
}

/** For machines, with what is text inside of it as values. */
export function toFoldJson({ indexJson, metadataJson, ...fold }: ShownFold): unknown {
  const metadata: unknown = metadataJson === null ? null : JSON.parse(metadataJson);
  return { ...fold, index: indexJson === null ? null : decodeIndex(indexJson), metadata };
}

export function nameOfKind(kind: FoldDetails["kind"]): string {
  return kindNames[kind];
}

const kindNames: Readonly<Record<FoldDetails["kind"], string>> = {
  summary: "summary",
  sliding_window: "outline",
  selective: "cleared results",
};

/** The model that wrote the summary; null where none was asked. */
export function writerOf({ kind, model }: Pick<FoldDetails, "kind" | "model">): string | null {
  return kind === "summary" ? model : null;
}

/** Its numbers in a few lines. */
export function renderFoldFacts(fold: ShownFold): string {
  const { compactedMs, trigger, durationMs, turnsSummarized, headTurnCount } = fold;
  const { tokensBefore, tokensAfter, summaryTokens, summarizedThroughTurnId } = fold;
  const kept = fold.firstKeptTurnId;
  return renderFacts([
    ["fold", toPrintable(fold.turnId)],
    ["when", `${formatTime(compactedMs)} UTC, ${trigger}, in ${formatDuration(durationMs)}`],
    ["kind", describeKind(fold)],
    [
      "turns",
      `${turnsSummarized} of ${headTurnCount} folded, through ${toPrintable(summarizedThroughTurnId)}; ${kept === null ? "none is kept" : `kept from ${toPrintable(kept)} on`}`,
    ],
    [
      "tokens",
      `${formatTokens(tokensBefore)} → ${formatTokens(tokensAfter)}, ${formatTokens(summaryTokens)} of them for what was folded`,
    ],
    ["cost", describeCost(fold)],
    ["index", describeIndex(fold.indexJson)],
  ]);
}

/** With everything that stands for the folded part, word for word. */
export function renderFold(fold: ShownFold): string {
  const index = fold.indexJson === null ? null : decodeIndex(fold.indexJson);
  const title = fold.kind === "summary" ? "summary" : "notes";
  return [
    renderFoldFacts(fold),
    renderText(title, fold.summary),
    ...(index === null || index.text === "" ? [] : [renderText("index", index.text)]),
  ].join("\n");
}

export interface Recall {
  readonly sessionId: string;
  readonly foldId: string;
  /** The turn before the fold. */
  readonly headTurnId: string | null;
  /** Whether the agent has tools for it. */
  readonly canRecall: boolean;
}

/** What was said is still there, and how to come by it. */
export function renderRecall({ sessionId, foldId, headTurnId, canRecall }: Recall): string {
  const agent = canRecall
    ? "the agent finds all of it with history_search and history_read."
    : "the agent has no history_search and history_read among its tools.";
  const ways = [
    [`strata sessions show ${sessionId} --fold ${foldId}`, "what the model is told instead"],
    [`strata sessions show ${sessionId} --messages --whole`, "everything that was said"],
    ...(headTurnId === null
      ? []
      : [[`strata sessions fork ${sessionId} NEW --turn ${headTurnId}`, "go on as if not folded"]]),
  ];
  const width = Math.max(...ways.map(([command = ""]) => command.length));
  const lines = ways.map(
    ([command = "", shows = ""]) => `  ${command.padEnd(width)}  # ${shows}\n`,
  );
  return toPrintable(`Nothing is deleted; ${agent}\n${lines.join("")}`);
}

function describeKind(fold: ShownFold): string {
  switch (fold.kind) {
    case "summary":
      return toPrintable(`summary by ${fold.model} of ${fold.provider}`);
    case "sliding_window":
      return "outline, made without a model";
    case "selective":
      return "old tool results cleared";
  }
}

function describeCost(fold: ShownFold): string {
  const { costPicoUsd, inputTokens, outputTokens } = fold;
  const isKnown = costPicoUsd > 0n || !hasUnpriced(fold);
  const cost = isKnown ? formatUsdRounded(costPicoUsd) : "not known, the model has no price";
  if (inputTokens === 0 && outputTokens === 0) return cost;
  return `${cost}, ${formatTokens(inputTokens)} tokens in and ${formatTokens(outputTokens)} out`;
}

/** Whether a call for the summary has no price, as it was noted with the fold. */
function hasUnpriced({ metadataJson }: ShownFold): boolean {
  const metadata: unknown = metadataJson === null ? null : JSON.parse(metadataJson);
  if (typeof metadata !== "object" || metadata === null) return false;
  return "callsWithoutCost" in metadata && Number(metadata.callsWithoutCost) > 0;
}

function describeIndex(json: string | null): string {
  const index = json === null ? null : decodeIndex(json);
  if (index === null) return "none";
  const left = index.leftOut === 0 ? "" : `; ${formatCount(index.leftOut, "name")} left out`;
  return `${formatCount(index.entries.length, "exact name")} in ${formatTokens(index.tokens)} tokens${left}`;
}

function renderText(title: string, text: string): string {
  return `${styleText("bold", title)}\n${toPrintable(text.trimEnd()).replace(/^(?=.)/gm, "  ")}\n`;
}
