// The report of a sub-agent to its parent: its last reply in pages, or why it failed and what to do.
import type { CallEntry } from "../../core/ledger/call-entry.ts";
import type { Ledger } from "../../core/ledger/ledger.ts";
import type { Message } from "../../core/message/message.ts";
import { ToolError, type ToolCallContext, type ToolOutput } from "../../core/tools/tool.ts";
import type { SubAgentKind } from "../../edge/tools/delegate-tool.ts";
import { totalCost } from "../../core/turn/turn-payloads.ts";
import type { TurnEnding } from "../../core/turn/turn.ts";
import type { TurnResult } from "../../core/turn/turn-result.ts";

export interface FinishedAgent {
  readonly sessionId: string;
  readonly kind: SubAgentKind;
  readonly run: Pick<TurnResult, "calls" | "end">;
}

/** Throws a `ToolError` for a sub-agent that did not finish. */
export function toReport(agent: FinishedAgent, page: ReportPage): ToolOutput {
  const { sessionId, kind, run } = agent;
  const { calls, end } = run;
  if (end !== "done") throw toFailure(agent, end);
  const text = textOf(calls.at(-1)?.reply ?? null);
  return {
    text: showPage({ sessionId, text, offset: 0 }, page),
    spawnedSessionId: sessionId,
    metadata: { sessionId, kind, callCount: calls.length, ...costOf(calls) },
  };
}

export interface ReportPage {
  /** The tool that reads further pages. */
  readonly toolName: string;
  readonly charactersMax: number;
}

/** The last reply of a sub-agent of the caller's session. */
export async function readReport(
  ledger: Pick<Ledger, "findSession" | "readThread">,
  asked: { readonly sessionId: string; readonly offset: number },
  call: Pick<ToolCallContext, "sessionId">,
  page: ReportPage,
): Promise<ToolOutput> {
  const { sessionId } = asked;
  const record = await ledger.findSession(sessionId);
  if (record?.parent?.sessionId !== call.sessionId) {
    throw new ToolError(
      "not_found",
      `this session asked for no sub-agent ${JSON.stringify(sessionId.slice(0, 64))}; the last line of a long report names its session`,
    );
  }
  let text = "";
  for await (const { message } of ledger.readThread({ sessionId })) {
    if (message.role === "assistant") text = textOf(message);
  }
  if (asked.offset > 0 && asked.offset >= text.length) {
    throw new ToolError("not_found", `the report has ${text.length} characters`);
  }
  return { text: showPage({ ...asked, text }, page) };
}

interface Shown {
  readonly sessionId: string;
  readonly text: string;
  readonly offset: number;
}

function showPage(
  { sessionId, text, offset }: Shown,
  { toolName, charactersMax }: ReportPage,
): string {
  if (text.trim() === "") return "(The sub-agent ended without a word.)";
  const end = endOfPage(text, offset + charactersMax);
  const shown = text.slice(offset, end);
  if (end >= text.length) return shown;
  const on = JSON.stringify({ session: sessionId, offset: end });
  return `${shown}\n\n[Characters ${offset} to ${end} of ${text.length}. Read on: ${toolName} ${on}]`;
}

/** Ends a page between characters, not inside a surrogate pair. */
function endOfPage(text: string, end: number): number {
  const isInside = /[\uD800-\uDBFF]/.test(text.charAt(end - 1));
  return isInside ? end - 1 : end;
}

function textOf(message: Message | null): string {
  const texts = message?.content.flatMap((block) => (block.type === "text" ? [block.text] : []));
  return texts?.join("\n\n") ?? "";
}

/** Null if calls were billed and no cost is known. */
function costOf(calls: readonly CallEntry[]): {
  readonly costPicoUsd: string | null;
  readonly unpricedCallCount: number;
} {
  const cost = totalCost(calls);
  const unpriced = calls.filter((call) => call.usage !== null && call.costPicoUsd === null);
  const costPicoUsd = cost === null ? null : String(cost);
  return { costPicoUsd, unpricedCallCount: unpriced.length };
}

/** Its files and other effects stay: the model must know that. */
function toFailure(
  { sessionId, kind, run }: FinishedAgent,
  end: Exclude<TurnEnding, "done">,
): ToolError {
  const last = run.calls.at(-1);
  const words = textOf(last?.reply ?? null).trim();
  const parts = [
    `${whatHappened(kind, end, run)} ${adviceFor[end]} What it has changed so far stays changed. (Its session is ${sessionId}.)`,
    ...(words === "" ? [] : [`Its last words:\n${words.slice(0, lastWordsMax).toWellFormed()}`]),
  ];
  return new ToolError(end === "cancelled" ? "cancelled" : "execution_error", parts.join("\n\n"));
}

const lastWordsMax = 2000;

function whatHappened(
  kind: SubAgentKind,
  end: Exclude<TurnEnding, "done">,
  { calls }: FinishedAgent["run"],
): string {
  const failure = calls.at(-1)?.failure ?? null;
  switch (end) {
    case "cancelled":
      return `The ${kind} was cancelled.`;
    case "cut off":
      return `The last reply of the ${kind} was cut off.`;
    case "too many calls":
      return `The ${kind} made ${calls.length} calls and was not done.`;
    case "failed":
      return failure === null
        ? `The ${kind} failed.`
        : `The ${kind} failed (${failure.kind}): ${failure.detail}.`;
  }
}

const adviceFor: Readonly<Record<Exclude<TurnEnding, "done">, string>> = {
  cancelled: "Ask for it again only if it is still wanted.",
  "cut off": "Ask again for a shorter report, or for less at a time.",
  "too many calls": "Split the task, or do the rest yourself.",
  failed: "Give the task again, or do it yourself.",
};
