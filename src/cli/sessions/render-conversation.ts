// A conversation that the gateway saw, as text: whose it is, and each call with what it read, missed and cost.
import type { GatewayCall } from "../../core/ledger/gateway-call.ts";
import type { SessionRecord } from "../../core/ledger/session-record.ts";
import { generatedTokens, hitRate, writtenTokens } from "../../core/message/usage.ts";
import { formatCount, formatPercent, formatTokens } from "../../replay/format-figures.ts";
import { formatCost } from "../format-cost.ts";
import { formatTime, toPrintable, toShort } from "../ledger/render-ledger.ts";
import { renderFacts, renderTable, type Column } from "../table.ts";

export interface ShownConversation {
  readonly session: SessionRecord;
  /** The conversations of its sub-agents. */
  readonly workers: readonly string[];
  /** Oldest first. */
  readonly calls: readonly GatewayCall[];
  /** Calls without a price. */
  readonly unpriced: number;
}

const callsShown = 20;

export function renderConversation(shown: ShownConversation, isEveryCall: boolean): string {
  const { calls } = shown;
  const latest = isEveryCall ? calls : calls.slice(-callsShown);
  const hidden = calls.length - latest.length;
  const parts = [
    renderAbout(shown),
    hidden === 0 ? "" : `${formatCount(hidden, "earlier call")}; --all shows them\n`,
    renderTable(callColumns, latest),
  ];
  return parts.filter((part) => part !== "").join("\n");
}

function renderAbout({ session, workers, calls, unpriced }: ShownConversation): string {
  const first = calls[0]?.conversation;
  const facts: readonly (readonly [string, string | null])[] = [
    [
      "conversation",
      `${session.id}, seen by the gateway${session.status === "archived" ? ", archived" : ""}`,
    ],
    ["program", `${session.agent}, ${first?.kind ?? "conversation"}`],
    ["its name for it", first?.clientSession ?? null],
    ["model", `${session.model} of ${session.provider}`],
    [
      "cost",
      `${formatCost(session.costPicoUsd, unpriced)} for ${formatCount(calls.length, "call")}`,
    ],
    ["time", `${formatTime(session.createdMs)} to ${formatTime(session.updatedMs)} UTC`],
    ["started by", session.parent?.sessionId ?? null],
    ["sub-agents", workers.length === 0 ? null : workers.join(", ")],
  ];
  return renderFacts(
    facts.map(([name, value]) => [name, value === null ? null : toShort(value, 400)]),
  );
}

const callColumns: readonly Column<GatewayCall>[] = [
  { title: "call", align: "right", cell: ({ conversation }) => String(conversation.callNumber) },
  { title: "started (UTC)", cell: ({ startMs }) => formatTime(startMs) },
  { title: "status", cell: ({ status, failure }) => toPrintable(failure?.kind ?? status) },
  { title: "read", align: "right", cell: ({ usage }) => tokens(usage?.cacheReadTokens) },
  { title: "written", align: "right", cell: ({ usage }) => tokens(usage && writtenTokens(usage)) },
  { title: "uncached", align: "right", cell: ({ usage }) => tokens(usage?.uncachedTokens) },
  { title: "made", align: "right", cell: ({ usage }) => tokens(usage && generatedTokens(usage)) },
  { title: "hit rate", align: "right", cell: hitRateOf },
  {
    title: "cost",
    align: "right",
    cell: ({ costPicoUsd }) => (costPicoUsd === null ? "-" : formatCost(costPicoUsd, 0)),
  },
  { title: "missed", cell: missOf },
];

function tokens(count: number | null | undefined): string {
  return count == null ? "-" : formatTokens(count);
}

function hitRateOf({ usage, reportsCache }: GatewayCall): string {
  const share = usage === null || !reportsCache ? null : hitRate(usage);
  return share === null ? "-" : formatPercent(share);
}

function missOf({ explanation }: GatewayCall): string {
  if (explanation === null || explanation.lostTokens === 0) return "-";
  const { lostTokens, cause, block } = explanation;
  const place = block === null ? "" : ` at ${block.section}`;
  return toShort(`${formatTokens(lostTokens)}: ${cause}${place}`, 60);
}
