// The events of a turn: its beginning, its calls, its end.
import type { EventBody, PayloadOf } from "../events/event.ts";
import { hashContent } from "../hash.ts";
import type { CallEntry } from "../ledger/call-entry.ts";
import { encodeMessage } from "../message/encode-message.ts";
import type { Session } from "../session/session.ts";
import type { PreparedCall } from "./prepare-call.ts";
import { callCountOf, type Turn, type TurnEnding } from "./turn.ts";
import {
  toCancelled,
  toCompleted,
  toDiagnosis,
  toFailed,
  toRouted,
  toTurnError,
  toTurnSums,
} from "./turn-payloads.ts";

/** The events that follow from a result: the turn before it, and after it. */
export function newsOf(before: Turn, after: Turn): readonly EventBody[] {
  const { at } = before;
  if (at.after === "send" && after.at.after === "record reply") {
    return eventsOfCall(before, at.sent.entry, at.sent.miss);
  }
  if (after.cuts !== before.cuts) return after.cuts;
  const call = "call" in after.at ? after.at.call : null;
  if (call === null) return [];
  const { prepared } = call;
  return [
    ...(after.isAnnounced && !before.isAnnounced ? toBegun(after, prepared) : []),
    ...(before.isRouteNews && !after.isRouteNews ? [toDecided(after, prepared)] : []),
  ];
}

function toBegun(turn: Turn, first: PreparedCall): readonly EventBody[] {
  if (callCountOf(turn) > 0) return [toResumed(turn)];
  const payload = toStarted(turn, first.promptTokens);
  return [{ type: "turn.started", payload }, toDecided(turn, first)];
}

function toDecided({ before, route }: Turn, first: PreparedCall): EventBody {
  const payload = { ...modelOf(before), ...toRouted(before, first, route) };
  return { type: "route.decided", payload };
}

/** The name of a call, in events and in canonical requests. */
export function toRequestId(turnId: string, number: number): string {
  return `${turnId}/${number}`;
}

export function callStarted({ id, before }: Turn, number: number, tokens: number): EventBody {
  return {
    type: "llm.call_started",
    payload: {
      ...modelOf(before),
      estimated_input_tokens: tokens,
      request_id: toRequestId(id, number),
      is_worker: before.role === "worker",
    },
  };
}

/** Takes the turn as it was when the call was sent. */
export function eventsOfCall(
  { before }: Pick<Turn, "before">,
  entry: CallEntry,
  miss: PayloadOf<"cache.miss"> | null,
): readonly EventBody[] {
  const about = modelOf(before);
  return [
    entry.reply === null
      ? { type: "llm.call_failed", payload: { ...about, ...toFailed(entry) } }
      : { type: "llm.call_completed", payload: { ...about, ...toCompleted(entry, before) } },
    ...(miss === null
      ? []
      : [{ type: "cache.miss", payload: { ...miss, ...toDiagnosis(entry) } } as const]),
  ];
}

export function turnEnded(turn: Turn, how: TurnEnding, endMs: number): readonly EventBody[] {
  const { resumed, isAnnounced } = turn;
  const isNews = resumed !== null && !isAnnounced;
  return [...(isNews ? [toResumed(turn)] : []), toEnded(turn, how, endMs)];
}

function toEnded({ earlier, calls, aborted }: Turn, how: TurnEnding, endMs: number): EventBody {
  const all = [...earlier, ...calls];
  const last = all.at(-1);
  const sums = toTurnSums(all, endMs);
  if (how === "done") {
    const stop_reason = last?.stopReason ?? "unknown";
    return { type: "turn.completed", payload: { stop_reason, ...sums } };
  }
  if (how === "cancelled") {
    return { type: "turn.cancelled", payload: toCancelled(sums, aborted?.reason) };
  }
  return { type: "turn.failed", payload: { ...toTurnError(how, last), ...sums } };
}

function toResumed({ earlier, resumed }: Turn): EventBody {
  const payload = { llm_call_count: earlier.length, tool_call_count: resumed?.toolCalls ?? 0 };
  return { type: "turn.resumed", payload };
}

function modelOf({ model }: Session): { readonly model: string; readonly provider: string } {
  return { model: model.id, provider: model.provider };
}

function toStarted({ before, current }: Turn, tokens: number): PayloadOf<"turn.started"> {
  const { thread } = before;
  return {
    user_message_hash: hashContent(current.map(encodeMessage).join("\n")),
    estimated_input_tokens: tokens,
    has_images: current.some(({ content }) => content.some(({ type }) => type === "image")),
    has_tool_calls_in_history:
      thread.foundation.tools.length > 0 && hasToolMessage(thread.messages),
  };
}

/** Searches from the end: in a session with tools the last turn usually used one. */
function hasToolMessage(messages: Session["thread"]["messages"]): boolean {
  for (let index = messages.length - 1; index >= 0; index -= 1) {
    if (messages.at(index)?.role === "tool") return true;
  }
  return false;
}
