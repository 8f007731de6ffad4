// What is known of sessions while their events pass.
import { ROOT_CONTEXT, type Context, type Tracer } from "@opentelemetry/api";
import type { StrataEvent } from "../../../core/events/event.ts";
import { createPending, type Pending } from "../pending.ts";
import type { SessionFacts } from "./from-events.ts";
import type { Inference } from "./inference.ts";
import type { Meters } from "./meters.ts";
import { createOpenSpans, type OpenSpans } from "./open-spans.ts";

export interface FollowOptions {
  readonly tracer: Tracer;
  readonly meters: Meters;
  readonly send: (inference: Inference, parent: Context) => void;
  /** The agent of a session whose beginning was not seen. */
  readonly agentOf: (sessionId: string) => string | null | undefined;
}

export interface SessionState {
  readonly agent: string | null;
  /** The tool use that started a sub-agent. */
  readonly parent: Context | null;
  readonly isCompacted: boolean;
}

export interface Following extends FollowOptions {
  readonly sessions: Pending<SessionState>;
  readonly turns: OpenSpans;
  readonly tools: OpenSpans;
  readonly compactions: OpenSpans;
  /** Request ids by the event of the call's beginning. */
  readonly requests: Pending<string>;
  /** Contexts of tool uses by their event. */
  readonly uses: Pending<Context>;
  /** The last call, whose miss may still come. */
  waiting: WaitingCall | null;
}

export interface WaitingCall {
  /** The event of its reply. */
  readonly eventId: string;
  readonly inference: Inference;
  readonly parent: Context;
}

/** How many things of a kind may be under way. Beyond it the oldest end as unfinished. */
const openMax = 10_000;

export function createFollowing(options: FollowOptions): Following {
  return {
    ...options,
    sessions: createPending(openMax),
    turns: createOpenSpans(openMax),
    tools: createOpenSpans(openMax),
    compactions: createOpenSpans(openMax),
    requests: createPending(openMax),
    uses: createPending(openMax),
    waiting: null,
  };
}

export const unknownSession: SessionState = { agent: null, parent: null, isCompacted: false };

export type InTurn = Pick<StrataEvent, "sessionId" | "turnId">;

export function turnKey({ sessionId, turnId }: InTurn): string {
  return `${sessionId}\n${turnId ?? ""}`;
}

/** Outside of a turn, as a compaction that a person asked for, the root. */
export function parentOf(event: InTurn, { turns, sessions }: Following): Context {
  const turn = turns.find(turnKey(event))?.context;
  return turn ?? sessions.find(event.sessionId)?.parent ?? ROOT_CONTEXT;
}

export function factsOf({ sessionId }: InTurn, { sessions, agentOf }: Following): SessionFacts {
  const { agent, isCompacted } = sessions.find(sessionId) ?? unknownSession;
  return { agent: agent ?? agentOf(sessionId) ?? null, isCompacted };
}
