// A session as text: what it is, what is open, its turns, its compactions.
import type { SessionRecord } from "../../core/ledger/session-record.ts";
import type { TurnRecord, ThreadMessage } from "../../core/ledger/turn-record.ts";
import type { Runner } from "../../edge/stores/session-inside.ts";
import type { CompactionRecord } from "../../core/ledger/compaction-record.ts";
import { generatedTokens, hitRate, promptTokens } from "../../core/message/usage.ts";
import { formatCount, formatPercent, formatTokens } from "../../replay/format-figures.ts";
import { formatTime, toPrintable, toShort, formatBytes } from "../ledger/render-ledger.ts";
import { formatCost, formatShortCost } from "../format-cost.ts";
import { nameOfKind, shortCostOf, writerOf } from "../compact/render-compacted.ts";
import { renderFacts, renderTable, type Column } from "../table.ts";
import { renderPlan, type LatestCall } from "./render-plan.ts";
import { styleText } from "node:util";
import type { Block, MediaSource } from "../../core/message/message.ts";

export interface ShownSession {
  readonly session: SessionRecord;
  /** The sessions of its sub-agents. */
  readonly workers: readonly string[];
  readonly open: { readonly turn: TurnRecord; readonly runner: Runner } | null;
  readonly turns: readonly ShownTurn[];
  /** Calls without a price. */
  readonly unpriced: number;
  /** Latest first. */
  readonly compactions: readonly CompactionRecord[];
  /** The plan of the latest turn that made one; null before. */
  readonly latestCall: LatestCall | null;
}

export interface ShownTurn extends TurnRecord {
  /** False for failed, running and left-behind turns. */
  readonly isInThread: boolean;
  /** How many of its calls have no price. */
  readonly unpriced: number;
}

const turnsShown = 20;

export function renderSession(shown: ShownSession, isEveryTurn: boolean): string {
  const { turns, compactions, latestCall } = shown;
  const latest = isEveryTurn ? turns : turns.slice(-turnsShown);
  const hidden = turns.length - latest.length;
  const parts = [
    renderAbout(shown),
    hidden === 0 ? "" : `${formatCount(hidden, "earlier turn")}; --all shows them\n`,
    latest.length === 0 ? "No turn yet.\n" : renderTable(turnColumns, latest),
    compactions.length === 0 ? "" : renderTable(compactionColumns, compactions),
    latestCall === null ? "" : renderPlan(latestCall),
  ];
  return parts.filter((part) => part !== "").join("\n");
}

function renderAbout({ session, workers, open, unpriced }: ShownSession): string {
  const { parent } = session;
  const facts: readonly (readonly [string, string | null])[] = [
    ["session", `${session.id}${session.status === "archived" ? ", archived" : ""}`],
    ["agent", `${session.agent}, ${session.role}`],
    ["model", `${session.model} of ${session.provider}`],
    [
      "cost",
      `${formatCost(session.costPicoUsd, unpriced)} for ${formatCount(session.turnCount, "completed turn")} of this session, failed calls included`,
    ],
    [
      "time",
      `created ${formatTime(session.createdMs)}, updated ${formatTime(session.updatedMs)} UTC`,
    ],
    ["points at", session.headTurnId ?? "no turn yet"],
    [
      "started by",
      parent === null
        ? null
        : `${parent.sessionId}${parent.turnId === undefined ? "" : `, in turn ${parent.turnId}`}`,
    ],
    ["task", session.task],
    ["workers", workers.length === 0 ? null : workers.join(", ")],
    ["workspace", session.workspacePath],
    ["persona", session.personaId],
    ["found by", session.routingKey],
    ["foundation", session.foundationHash],
    ["open", open === null ? null : describeOpen(open, session.id)],
  ];
  return renderFacts(
    facts.map(([name, value]) => [name, value === null ? null : toShort(value, 400)]),
  );
}

function describeOpen({ turn, runner }: NonNullable<ShownSession["open"]>, id: string): string {
  const since = `turn ${turn.id} since ${formatTime(turn.startMs)} UTC`;
  return runner.isLive
    ? `${since}, run by ${runner.holder ?? "an unknown process"}`
    : `${since}, but no process runs it: open the session to resume it, or give it up with strata sessions abandon ${id}`;
}

const turnColumns: readonly Column<ShownTurn>[] = [
  { title: "turn", cell: ({ id }) => toPrintable(id) },
  { title: "status", cell: statusOf },
  { title: "started (UTC)", cell: ({ startMs }) => formatTime(startMs) },
  { title: "calls", align: "right", cell: ({ callCount }) => String(callCount) },
  { title: "tools", align: "right", cell: ({ toolCallCount }) => String(toolCallCount) },
  { title: "prompt", align: "right", cell: ({ usage }) => formatTokens(promptTokens(usage)) },
  { title: "hit rate", align: "right", cell: hitRateOf },
  { title: "made", align: "right", cell: ({ usage }) => formatTokens(generatedTokens(usage)) },
  {
    title: "cost",
    align: "right",
    cell: ({ costPicoUsd, unpriced }) => formatShortCost(costPicoUsd, unpriced),
  },
];

function statusOf({ type, status, endReason, isInThread }: ShownTurn): string {
  const why = endReason === null ? "" : `: ${toShort(endReason, 40)}`;
  if (type === "compaction") return isInThread ? "compaction" : "compaction, left behind";
  return status === "completed" && !isInThread ? "left behind" : `${status}${why}`;
}

function hitRateOf({ usage }: ShownTurn): string {
  const share = hitRate(usage);
  return share === null ? "-" : formatPercent(share);
}

const compactionColumns: readonly Column<CompactionRecord>[] = [
  { title: "compaction", cell: ({ turnId }) => toPrintable(turnId) },
  { title: "when (UTC)", cell: ({ compactedMs }) => formatTime(compactedMs) },
  { title: "why", cell: ({ trigger }) => trigger },
  { title: "kind", cell: ({ kind }) => nameOfKind(kind) },
  { title: "by", cell: (compaction) => toPrintable(writerOf(compaction) ?? "-") },
  { title: "turns", align: "right", cell: ({ turnsSummarized }) => String(turnsSummarized) },
  { title: "before", align: "right", cell: ({ tokensBefore }) => formatTokens(tokensBefore) },
  { title: "after", align: "right", cell: ({ tokensAfter }) => formatTokens(tokensAfter) },
  { title: "cost", align: "right", cell: shortCostOf },
];

/** With a line above it where another turn begins. */
export function renderMessage(kept: ThreadMessage, before: ThreadMessage | null): string {
  const { message, turnId } = kept;
  const head =
    before?.turnId === turnId ? "" : `${styleText("dim", `── ${toPrintable(turnId)} ──`)}\n`;
  const blocks = message.content.map((block) => indent(renderBlock(block)));
  return `${head}${styleText("bold", message.role)}\n${blocks.join("")}`;
}

const shortLength = 160;

function renderBlock(block: Block): string {
  switch (block.type) {
    case "text":
      return toPrintable(block.text);
    case "tool_use":
      return `[uses ${toShort(block.name, 60)} ${toShort(block.inputJson, shortLength)}]`;
    case "tool_result":
      return `[${block.isError ? "failed" : "answers"} ${toShort(block.content.map(renderBlock).join(" "), shortLength)}]`;
    case "thinking":
      return `[thinks ${toShort(block.text, shortLength)}]`;
    case "redacted_thinking":
      return "[thinks, encrypted]";
    case "image":
      return `[image ${describeSource(block.source)}]`;
    case "document":
      return `[document ${toShort(block.title ?? "", 60)} ${describeSource(block.source)}]`;
    case "compaction":
      return `[the provider's summary: ${toShort(block.content ?? "none", shortLength)}]`;
    case "opaque":
      return `[a block of the provider's own, ${formatBytes(block.json.length)}]`;
  }
}

function describeSource(source: MediaSource): string {
  switch (source.kind) {
    case "base64":
      return `${toShort(source.mediaType, 40)}, ${formatBytes(Math.floor(source.data.length * 0.75))}`;
    case "text":
      return `${toShort(source.mediaType, 40)}, ${formatBytes(source.data.length)}`;
    case "url":
      return toShort(source.url, shortLength);
    case "file":
      return toShort(source.fileId, shortLength);
  }
}

function indent(text: string): string {
  return `${text.replace(/^/gm, "  ")}\n`;
}
