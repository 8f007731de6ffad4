// A compaction as text: its figures, its notes, and how to read what it hides.
import { styleText } from "node:util";
import { decodeIndex } from "../../core/compaction/index/compaction-index.ts";
import type { CompactionDetails } from "../../core/ledger/compaction-record.ts";
import { formatCount, formatDuration, formatTokens } from "../../replay/format-figures.ts";
import { formatShortCost } from "../format-cost.ts";
import { formatTime, toPrintable } from "../ledger/render-ledger.ts";
import { renderFacts } from "../table.ts";

/** A compaction with the id of its turn. */
export interface ShownCompaction extends CompactionDetails {
  readonly turnId: string;
}

/** For --json, with stored JSON texts parsed. */
export function toCompactionJson({
  indexJson,
  metadataJson,
  ...compaction
}: ShownCompaction): unknown {
  const metadata: unknown = metadataJson === null ? null : JSON.parse(metadataJson);
  return { ...compaction, index: indexJson === null ? null : decodeIndex(indexJson), metadata };
}

export function nameOfKind(kind: CompactionDetails["kind"]): string {
  return kindNames[kind];
}

const kindNames: Readonly<Record<CompactionDetails["kind"], string>> = {
  summary: "summary",
  sliding_window: "outline",
  selective: "cleared results",
};

/** The model that wrote the summary; null for an outline. */
export function writerOf({
  kind,
  model,
}: Pick<CompactionDetails, "kind" | "model">): string | null {
  return kind === "summary" ? model : null;
}

export function renderCompactionFacts(compaction: ShownCompaction): string {
  const { compactedMs, trigger, durationMs, turnsSummarized, headTurnCount } = compaction;
  const { tokensBefore, tokensAfter, summaryTokens, summarizedThroughTurnId } = compaction;
  const kept = compaction.firstKeptTurnId;
  return renderFacts([
    ["compaction", toPrintable(compaction.turnId)],
    ["when", `${formatTime(compactedMs)} UTC, ${trigger}, in ${formatDuration(durationMs)}`],
    ["kind", describeKind(compaction)],
    [
      "turns",
      `${turnsSummarized} of ${headTurnCount} compacted, through ${toPrintable(summarizedThroughTurnId)}; ${kept === null ? "none kept" : `kept from ${toPrintable(kept)} on`}`,
    ],
    [
      "tokens",
      `${formatTokens(tokensBefore)} → ${formatTokens(tokensAfter)}, ${formatTokens(summaryTokens)} of them for the notes`,
    ],
    ["cost", describeCost(compaction)],
    ["index", describeIndex(compaction.indexJson)],
  ]);
}

/** With the notes in full. */
export function renderCompaction(compaction: ShownCompaction): string {
  const index = compaction.indexJson === null ? null : decodeIndex(compaction.indexJson);
  const title = compaction.kind === "summary" ? "summary" : "notes";
  return [
    renderCompactionFacts(compaction),
    renderText(title, compaction.summary),
    ...(index === null || index.text === "" ? [] : [renderText("index", index.text)]),
  ].join("\n");
}

export interface Recall {
  readonly sessionId: string;
  readonly compactionId: string;
  /** The turn before the compaction. */
  readonly headTurnId: string | null;
  /** Whether the agent has history_search and history_read. */
  readonly canRecall: boolean;
}

/** How to read what was compacted. */
export function renderRecall({ sessionId, compactionId, headTurnId, canRecall }: Recall): string {
  const agent = canRecall
    ? "the agent can find it with history_search and history_read."
    : "the agent does not have the tools history_search and history_read.";
  const ways = [
    [
      `strata sessions show ${sessionId} --compaction ${compactionId}`,
      "what the model reads instead",
    ],
    [`strata sessions show ${sessionId} --messages --whole`, "all messages"],
    ...(headTurnId === null
      ? []
      : [
          [
            `strata sessions fork ${sessionId} NEW --turn ${headTurnId}`,
            "continue without the compaction",
          ],
        ]),
  ];
  const width = Math.max(...ways.map(([command = ""]) => command.length));
  const lines = ways.map(
    ([command = "", shows = ""]) => `  ${command.padEnd(width)}  # ${shows}\n`,
  );
  return toPrintable(`Nothing is deleted; ${agent}\n${lines.join("")}`);
}

function describeKind(compaction: ShownCompaction): string {
  switch (compaction.kind) {
    case "summary":
      return toPrintable(`summary by ${compaction.model} of ${compaction.provider}`);
    case "sliding_window":
      return "outline, made without a model";
    case "selective":
      return "old tool results cleared";
  }
}

/** In short: a summary without a price is not free. */
export function shortCostOf(
  compaction: WithMetadata & Pick<CompactionDetails, "costPicoUsd">,
): string {
  return formatShortCost(compaction.costPicoUsd, hasUnpriced(compaction) ? 1 : 0);
}

function describeCost(compaction: ShownCompaction): string {
  const { costPicoUsd, inputTokens, outputTokens } = compaction;
  const isKnown = costPicoUsd > 0n || !hasUnpriced(compaction);
  const cost = isKnown ? shortCostOf(compaction) : "not known: the model has no price";
  if (inputTokens === 0 && outputTokens === 0) return cost;
  return `${cost}, ${formatTokens(inputTokens)} tokens in and ${formatTokens(outputTokens)} out`;
}

type WithMetadata = Partial<Pick<CompactionDetails, "metadataJson">>;

/** Whether a summary call had no price, from the metadata of the compaction. */
function hasUnpriced({ metadataJson }: WithMetadata): boolean {
  const metadata: unknown = metadataJson == null ? null : JSON.parse(metadataJson);
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
