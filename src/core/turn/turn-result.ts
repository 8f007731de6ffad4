// Everything a turn came to, in one value. A resumed turn's result covers the calls that other processes made, too.
import type { CallEntry } from "../ledger/call-entry.ts";
import type { ToolCallRecord } from "../ledger/turn-record.ts";
import type { JsonText, Message, ToolResultBlock } from "../message/message.ts";
import { noUsage, totalUsage, type Usage } from "../message/usage.ts";
import { savedTokens, findSavings } from "../models/cost.ts";
import { withMoneyAsText } from "../models/pico-usd.ts";
import type { Session } from "../session/session.ts";
import { isRetryable } from "../wire/failure.ts";
import type { ReplyStop } from "../wire/reply.ts";
import type { ToolRun, TurnCompaction } from "./done-in-turn.ts";
import { toolUsesIn } from "./next-step.ts";
import { isTimeout, totalCost, toTurnError, type TurnErrorKind } from "./turn-payloads.ts";
import type { Turn, TurnCall, TurnEnding } from "./turn.ts";

/** `JSON.stringify` takes it: without `session`, and with money as decimal text. */
export interface TurnResult {
  readonly turnId: string;
  readonly end: TurnEnding;
  /** Why the last reply stopped, or what ended the turn instead. */
  readonly stopReason: TurnStop;
  /** Null for a turn that is done or was cancelled. */
  readonly error: TurnProblem | null;
  /** Everything that was sent for the first time and everything that was answered, in order. */
  readonly messages: readonly TurnMessage[];
  /** In the order in which the model asked for them. */
  readonly toolCalls: readonly TurnToolCall[];
  /** The sum over all calls. */
  readonly usage: Usage;
  /** The sum of all known costs; null if calls were billed and no cost is known. */
  readonly costPicoUsd: bigint | null;
  /** What caching saved against the same calls without a cache. */
  readonly saved: TurnSavings;
  readonly startMs: number;
  readonly durationMs: number;
  /** Compactions that the turn made, oldest first. */
  readonly compactions: readonly TurnCompaction[];
  /** Every call as the ledger has it, with what it lost of the cache and why. */
  readonly calls: readonly TurnCall[];
  /**
   * The session after the turn. It does not have the messages of a failed turn. If another process ran the turn: the session
   * as the ledger has it when the result is read.
   */
  readonly session: Session;
  /** Messages to the agent that came too late for a call; absent if the turn could not be steered. */
  readonly unsaid?: readonly Message[];
}

/** Below 0 where the cache was written and not yet read. */
export interface TurnSavings {
  /** In tokens at the plain input rate. */
  readonly tokens: number;
  /** Null if the model has no price. */
  readonly picoUsd: bigint | null;
}

export type TurnStop = ReplyStop | "timeout" | "aborted" | "error";

export interface TurnProblem {
  readonly kind: TurnErrorKind;
  readonly message: string;
  /** Whether the same turn may succeed later. */
  readonly isRetryable: boolean;
}

export interface TurnMessage extends Message {
  /** From 0 within the turn. */
  readonly sequence: number;
  /** The call that sent it or returned it. */
  readonly callNumber: number;
  /** When it was sent or had arrived. */
  readonly createdMs: number;
}

export interface TurnToolCall extends Partial<ToolRun> {
  readonly toolUseId: string;
  readonly name: string;
  readonly inputJson: JsonText;
  /** The call whose reply asked for it. */
  readonly callNumber: number;
  readonly status: ToolCallRecord["status"];
  /** As the model reads it; null if there is none. */
  readonly result: ToolResultBlock | null;
}

export interface TurnOutcome {
  readonly how: TurnEnding;
  readonly endMs: number;
  readonly session: Session;
  readonly unsaid: readonly Message[] | undefined;
}

/** What a result says of a turn. */
export type TurnToTell = Pick<
  Turn,
  "id" | "startMs" | "earlier" | "calls" | "toolRuns" | "compactions" | "current" | "aborted"
>;

export function toTurnResult(
  turn: TurnToTell,
  { how, endMs, session, unsaid }: TurnOutcome,
): TurnResult {
  const calls = [...turn.earlier, ...turn.calls];
  const result: TurnResult = {
    turnId: turn.id,
    end: how,
    stopReason: toStop(turn, how, calls.at(-1)),
    error: toProblem(how, calls.at(-1)),
    messages: messagesIn(calls),
    toolCalls: toolCallsIn(turn, calls, how),
    usage: totalUsage(calls.map((call) => call.usage ?? noUsage)),
    costPicoUsd: totalCost(calls),
    saved: savedBy(calls, session.model),
    startMs: turn.startMs,
    durationMs: Math.max(0, endMs - turn.startMs),
    compactions: turn.compactions,
    calls,
    session,
    ...(unsaid && { unsaid }),
  };
  return withMoneyAsText(result, ["session"]);
}

/** Calls on another model have other prices, and are left out. */
function savedBy(calls: readonly CallEntry[], model: Session["model"]): TurnSavings {
  const own = calls.flatMap(({ usage, startMs: at, model: name }) =>
    usage === null || name !== model.id ? [] : [{ usage, at }],
  );
  const tokens = own.reduce((sum, { usage }) => sum + savedTokens(usage, model.cache), 0);
  const picoUsd = own.reduce<bigint | null>((sum, { usage, at }) => {
    const saved = findSavings(usage, model, { at });
    return sum === null || saved === null ? null : sum + saved;
  }, 0n);
  return withMoneyAsText({ tokens, picoUsd });
}

function toStop({ aborted }: TurnToTell, how: TurnEnding, last: CallEntry | undefined): TurnStop {
  if (how === "cancelled") return isTimeout(aborted?.reason) ? "timeout" : "aborted";
  if (how === "failed") return last?.failure?.kind === "timeout" ? "timeout" : "error";
  return last?.stopReason ?? "unknown";
}

function toProblem(how: TurnEnding, last: CallEntry | undefined): TurnProblem | null {
  if (how === "done" || how === "cancelled") return null;
  const { error_kind: kind, error_message_redacted: message } = toTurnError(how, last);
  const failure = last?.failure ?? null;
  return { kind, message, isRetryable: failure !== null && isRetryable(failure) };
}

/** A call that came to nothing is sent again: what it sent counts with the call that was answered, or with the last one. */
function messagesIn(calls: readonly CallEntry[]): readonly TurnMessage[] {
  const all = calls.flatMap((call, at) => {
    const { number: callNumber, startMs, endMs, sent, reply } = call;
    const isFinal = call.status === "complete" || at === calls.length - 1;
    return [
      ...(isFinal ? sent : []).map((message) => ({ ...message, callNumber, createdMs: startMs })),
      ...(reply === null ? [] : [{ ...reply, callNumber, createdMs: endMs }]),
    ];
  });
  return all.map((message, sequence) => ({ ...message, sequence }));
}

function toolCallsIn(
  turn: TurnToTell,
  calls: readonly CallEntry[],
  how: TurnEnding,
): readonly TurnToolCall[] {
  const runs = new Map(turn.toolRuns.map((run) => [`${run.callNumber} ${run.toolUseId}`, run]));
  return calls.flatMap((call, at) => {
    // A provider may repeat an id in a later reply: a use's result is in the next answered call, or waits to be sent.
    const answered = calls.slice(at + 1).find(({ status }) => status === "complete");
    const answers = answered?.sent ?? calls.at(at + 1)?.sent ?? turn.current;
    return toolUsesIn(call).map(({ id, name, inputJson }) => {
      const result = findResult(answers, id);
      const status = statusOf(result, call, how);
      const about = { toolUseId: id, name, inputJson, callNumber: call.number };
      return { ...runs.get(`${call.number} ${id}`), ...about, status, result };
    });
  });
}

function findResult(messages: readonly Message[], toolUseId: string): ToolResultBlock | null {
  for (const block of messages.flatMap(({ content }) => content)) {
    if (block.type === "tool_result" && block.toolUseId === toolUseId) return block;
  }
  return null;
}

function statusOf(
  result: ToolResultBlock | null,
  { status }: CallEntry,
  how: TurnEnding,
): ToolCallRecord["status"] {
  if (result !== null) return result.isError ? "failed" : "succeeded";
  return status === "complete" && how === "done" ? "pending" : "cancelled";
}
