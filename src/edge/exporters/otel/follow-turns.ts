// The spans of our own sessions, from their events: a turn, and below it its calls, tool uses and compactions.
import type { Context } from "@opentelemetry/api";
import type { EventType } from "../../../core/events/event-catalogue.ts";
import type { EventOf, StrataEvent } from "../../../core/events/event.ts";
import {
  createFollowing,
  factsOf,
  parentOf,
  turnKey,
  type Following,
  type FollowOptions,
} from "./following.ts";
import { fromCompleted, fromFailed, fromWarmed, toMissOf } from "./from-events.ts";
import { genAi, strata, toProviderName } from "./gen-ai-names.ts";
import { beginCompaction, beginTool, endCompaction, endTool } from "./inner-spans.ts";
import { beginTurn, endTurn } from "./turn-spans.ts";

export interface TurnFollower {
  /** `around`: the context of the program that ran the turn. */
  observe(event: StrataEvent, around: Context): void;
  /** No miss of the last call comes any more. */
  settle(): void;
  /** Ends all open spans, as unfinished. */
  close(): void;
}

export function followTurns(options: FollowOptions): TurnFollower {
  const following = createFollowing(options);
  return {
    observe: (event, around) => {
      if (event.type !== "cache.miss") settle(following);
      follow(event, following, around);
    },
    settle: () => settle(following),
    close: () => {
      settle(following);
      for (const spans of [following.tools, following.compactions, following.turns]) spans.endAll();
    },
  };
}

function settle(following: Following): void {
  const { waiting } = following;
  if (waiting === null) return;
  following.waiting = null;
  following.send(waiting.inference, waiting.parent);
}

function follow<Type extends EventType>(
  event: EventOf<Type>,
  following: Following,
  around: Context,
): void {
  handlers[event.type]?.(event, following, around);
}

/** Types that are no part of a trace are left out. */
const handlers: Readonly<{
  [Type in EventType]?: (event: EventOf<Type>, following: Following, around: Context) => void;
}> = {
  "session.created": (event, { sessions, uses }) => {
    const { agent = null } = event.payload;
    const parent = uses.find(event.parentEventId ?? "") ?? null;
    sessions.begin(event.sessionId, { agent, parent, isCompacted: false });
  },
  "turn.started": beginTurn,
  "turn.resumed": beginTurn,
  "route.decided": nameModel,
  "llm.call_started": (event, { requests }) => requests.begin(event.id, event.payload.request_id),
  "llm.call_completed": (event, following) => {
    const inference = fromCompleted(event, requestOf(event, following), factsOf(event, following));
    following.waiting = { eventId: event.id, inference, parent: parentOf(event, following) };
  },
  "llm.call_failed": (event, following) => {
    const inference = fromFailed(event, requestOf(event, following), factsOf(event, following));
    following.send(inference, parentOf(event, following));
  },
  "cache.miss": (event, following) => {
    const { waiting } = following;
    if (waiting !== null && waiting.eventId === event.parentEventId) {
      const inference = { ...waiting.inference, miss: toMissOf(event) };
      following.waiting = { ...waiting, inference };
    }
    settle(following);
  },
  "cache.warmed": (event, following) =>
    following.send(fromWarmed(event, factsOf(event, following)), parentOf(event, following)),
  "tool.called": beginTool,
  "tool.completed": (event, following) =>
    endTool(event, event.payload.success ? null : "unsuccessful", following),
  "tool.failed": (event, following) => endTool(event, event.payload.error_class, following),
  "compaction.started": beginCompaction,
  "compaction.completed": endCompaction,
  "compaction.failed": endCompaction,
  "turn.completed": (event, following) => endTurn(event, null, following),
  "turn.failed": (event, following) => endTurn(event, event.payload.error_kind, following),
  "turn.cancelled": (event, following) => endTurn(event, event.payload.reason, following),
  "turn.interrupted": (event, following) => endTurn(event, "interrupted", following),
  "turn.abandoned": (event, following) => endTurn(event, "abandoned", following),
};

function nameModel(event: EventOf<"route.decided">, { turns }: Following): void {
  const { model, provider, reason } = event.payload;
  turns.find(turnKey(event))?.span.setAttributes({
    [genAi.requestModel]: model,
    [genAi.provider]: toProviderName(provider),
    [strata.routeReason]: reason,
  });
}

/** The id under which the call began; null if its beginning was not seen. */
function requestOf(
  { parentEventId }: EventOf<"llm.call_completed" | "llm.call_failed">,
  { requests }: Following,
): string | null {
  return requests.end(parentEventId ?? "") ?? null;
}
