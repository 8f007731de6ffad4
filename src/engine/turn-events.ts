// What a running turn tells of: its beginning, its calls, its end.
import type { PayloadOf } from "../core/events/event.ts";
import { hashContent } from "../core/hash.ts";
import type { CallEntry } from "../core/ledger/call-entry.ts";
import { encodeMessage } from "../core/message/encode-message.ts";
import type { Message } from "../core/message/message.ts";
import { toPreactivationDrafts } from "../core/skills/activation-events.ts";
import type { TurnEnding } from "../core/turn/turn-ending.ts";
import { findMiss } from "../core/turn/find-miss.ts";
import type { FirstCall } from "../core/turn/turn-payloads.ts";
import type { RunningTurn } from "./record-turn.ts";
import type { Route } from "../core/routing/decide-route.ts";
import type { Session } from "../core/session/session.ts";
import { unlessRefused, type Emitter, type Said, type Teller } from "./tell.ts";
import {
  toCancelled,
  toCompleted,
  toFailed,
  toParent,
  toRouted,
  toTurnSums,
  toTurnError,
} from "../core/turn/turn-payloads.ts";

export interface TurnEvents {
  /** With the call it is about to make. Who decided on the model is told with it, once per turn. */
  started(current: readonly Message[], first: FirstCall, route?: Route): void;
  resumed(turn: Pick<RunningTurn, "callCount" | "toolCallCount">): void;
  callStarted(number: number, estimatedTokens: number): void;
  callSettled(entry: CallEntry, before: Session): void;
  /** `reason`: of the signal that stopped it. */
  ended(how: TurnEnding, calls: readonly CallEntry[], endMs: number, reason?: unknown): void;
}

/** Where nobody decides, a session stays with its model. */
export const stays: Route = { by: "sticky", passedOver: [], left: null };

export function createTurnEvents(
  teller: Teller,
  { before: session, id: turnId }: Pick<RunningTurn, "before" | "id">,
): TurnEvents {
  const { model, role } = session;
  const tell = (said: Said): void => teller.tell(said);
  const about = { model: model.id, provider: model.provider };
  return {
    started: (current, first, route = stays) => {
      const started = toStarted(session, current, first.promptTokens);
      tell({ type: "turn.started", payload: started });
      tell({ type: "route.decided", payload: { ...about, ...toRouted(session, first, route) } });
    },
    resumed: ({ callCount, toolCallCount }) =>
      tell({
        type: "turn.resumed",
        payload: { llm_call_count: callCount, tool_call_count: toolCallCount },
      }),
    callStarted: (number, tokens) =>
      tell({
        type: "llm.call_started",
        payload: {
          ...about,
          estimated_input_tokens: tokens,
          request_id: `${turnId}/${number}`,
          is_worker: role === "worker",
        },
      }),
    callSettled: (entry, before) => {
      tell(
        entry.reply === null
          ? { type: "llm.call_failed", payload: { ...about, ...toFailed(entry) } }
          : { type: "llm.call_completed", payload: { ...about, ...toCompleted(entry, session) } },
      );
      const miss = findMiss(before, entry);
      if (miss !== null) tell({ type: "cache.miss", payload: miss });
    },
    ended: (how, calls, endMs, reason) => {
      const sums = toTurnSums(calls, endMs);
      const stopReason = calls.at(-1)?.stopReason ?? "unknown";
      if (how === "done") {
        tell({ type: "turn.completed", payload: { stop_reason: stopReason, ...sums } });
      } else if (how === "cancelled") {
        tell({ type: "turn.cancelled", payload: toCancelled(sums, reason) });
      } else {
        tell({ type: "turn.failed", payload: { ...toTurnError(how, calls.at(-1)), ...sums } });
      }
    },
  };
}

/** A session that is new, and the skills that are in it from the start: before any of its turns (M-32). */
export function tellOpened(bus: Emitter | undefined, session: Session): void {
  if (bus === undefined) return;
  const { id: sessionId, agent, origin, model, policy, thread } = session;
  const { workspacePath, preactivated } = session;
  const opened = unlessRefused(() =>
    bus.emit({
      type: "session.created",
      sessionId,
      payload: {
        agent,
        ...toParent(origin),
        workspace_path: workspacePath ?? "(none)",
        workspace_hash: thread.foundation.key,
        initial_active_model: model.id,
        routing_policy_version: policy.name,
      },
    }),
  );
  const parentEventId = opened?.id ?? null;
  for (const draft of toPreactivationDrafts(sessionId, preactivated)) {
    unlessRefused(() => bus.emit({ ...draft, parentEventId }));
  }
}

function toStarted(
  { thread }: Session,
  current: readonly Message[],
  tokens: number,
): PayloadOf<"turn.started"> {
  return {
    user_message_hash: hashContent(current.map(encodeMessage).join("\n")),
    estimated_input_tokens: tokens,
    has_images: current.some(({ content }) => content.some(({ type }) => type === "image")),
    has_tool_calls_in_history:
      thread.foundation.tools.length > 0 && hasToolMessage(thread.messages),
  };
}

/** From the end: in a session with tools the last turn used one. */
function hasToolMessage(messages: Session["thread"]["messages"]): boolean {
  for (let index = messages.length - 1; index >= 0; index -= 1) {
    if (messages.at(index)?.role === "tool") return true;
  }
  return false;
}
