// A turn as data: what it did, what it sends next, and its stage. No lease, signal, stream or function.
import type { Section } from "../layers/section.ts";
import type { EventBody, PayloadOf } from "../events/event.ts";
import type { EventContext, EventMoment } from "../layers/event.ts";
import type { CallEntry, CallRecord } from "../ledger/call-entry.ts";
import type { WithCall } from "../ledger/ledger.ts";
import type { LeftInTurn } from "../ledger/turn-record.ts";
import type { AttachedFile } from "../message/assembled-context.ts";
import type { Message, ToolUseBlock } from "../message/message.ts";
import type { Route } from "../routing/decide-route.ts";
import type { CompactionRules } from "../session/compaction-rules.ts";
import type { Session } from "../session/session.ts";
import type { PreparedCall } from "./prepare-call.ts";
import type { ToolRun, TurnCompaction } from "./done-in-turn.ts";
import type { ReplyStop } from "../wire/reply.ts";

export interface Turn {
  readonly id: string;
  readonly startMs: number;
  readonly event: TurnEvent;
  readonly route: Route;
  /** Models that the turn left because their providers failed, oldest first. */
  readonly switches: readonly LeftInTurn[];
  readonly limits: TurnLimits;
  /** The session before the turn. A failed turn goes back to it. */
  readonly before: Session;
  /** The session with the calls made so far. */
  readonly session: Session;
  /** The new messages of the next call. */
  readonly current: readonly Message[];
  /** By place in `current`: the full text of a tool result that was cut. */
  readonly fullResults: ReadonlyMap<number, string>;
  /** Whether the ledger has `current`. */
  readonly isStored: boolean;
  /** Calls that another process made before this one resumed the turn, oldest first. */
  readonly earlier: readonly CallEntry[];
  /** Recorded calls of this process, oldest first. */
  readonly calls: readonly TurnCall[];
  /** Tools that ran for the turn, in this or another process. */
  readonly toolRuns: readonly ToolRun[];
  /** Compactions of this turn, by this or another process. */
  readonly compactions: readonly TurnCompaction[];
  /** Whether the history was compacted after the last recorded call. */
  readonly isCompacted: boolean;
  /** Messages that came while the turn runs and that no call has sent yet. */
  readonly steered: readonly Message[];
  /** Why the caller stopped the turn; null while it runs on. */
  readonly aborted: Abort | null;
  /** Settings of the next call, read again before each call. */
  readonly rules: CallRules;
  /** What a resumed turn had done before; null for a new turn. */
  readonly resumed: { readonly toolCalls: number } | null;
  /** Whether the event for the turn's start or resumption is out. */
  readonly isAnnounced: boolean;
  /** Whether a change of model within the turn still has to be emitted. */
  readonly isRouteNews: boolean;
  readonly at: Stage;
  /** The events of the tool results that the last answers cut. */
  readonly cuts: readonly EventBody[];
}

/** A call with what it lost. */
export interface TurnCall extends CallEntry {
  /** As in the event `cache.miss`; null if nothing was lost. Absent if another process made the call. */
  readonly miss?: PayloadOf<"cache.miss"> | null;
}

/** The event that the turn handles. */
export interface TurnEvent {
  /** Its id at its source; null for none. */
  readonly sourceId: string | null;
  /** Files that it came with. */
  readonly attachments: readonly AttachedFile[];
  /** Its words as they are stored; null if the application writes them itself. */
  readonly message: Message | null;
  /** Null if the application writes this text itself. */
  readonly moment: EventMoment | null;
  /** The ledger's note on the first message; null if the ledger already has one. */
  readonly context: (EventContext & { readonly injectedAt: string }) | null;
  /** The time that the first call sends. */
  readonly startIso: string;
  /** When a call of this turn last sent the time; null before the first. */
  readonly timeSentMs: number | null;
}

export interface TurnLimits {
  /** The turn ends after this many calls. */
  readonly callsMax: number;
  /** False if the application owns the history: it is never shortened then. */
  readonly mayCompact: boolean;
  /** True if the application repeats a failed call itself, except the first of a turn. */
  readonly repeatsFailedCalls: boolean;
}

export interface CallRules {
  readonly compaction: CompactionRules;
  /** Whether the provider can be asked how long a prompt is. */
  readonly canCount: boolean;
}

export interface Abort {
  /** The reason of the signal that stopped the turn. */
  readonly reason: unknown;
}

/** Where the turn stands: after a step, or before its end. The next step follows from it. */
export type Stage =
  | { readonly after: "begin" }
  | { readonly after: "refresh"; readonly moment: CallMoment }
  | { readonly after: "prepare"; readonly call: CallAtHand }
  /** What the call sends is in the ledger. */
  | { readonly after: "record"; readonly call: CallAtHand }
  | { readonly after: "count"; readonly call: CallAtHand }
  /** The prompt is built again with this volatile text, because the history was compacted or memory does not fit. */
  | {
      readonly after: "compact";
      readonly moment: CallMoment;
      readonly volatile: CallMoment["volatile"];
    }
  /** The prompt is final. */
  | { readonly after: "settle prompt"; readonly call: CallAtHand }
  | { readonly after: "send"; readonly sent: CallToRecord }
  /** `call` is null if another process made it. */
  | { readonly after: "record reply"; readonly call: CallAtHand | null }
  | { readonly after: "end"; readonly how: TurnEnding };

/** The time of one call, and the text sent with that call only. */
export interface CallMoment {
  readonly nowMs: number;
  /** Null if there is nothing new to send. */
  readonly volatile: readonly Section[] | null;
}

export interface CallAtHand {
  readonly moment: CallMoment;
  readonly prepared: PreparedCall;
}

/** A reply with everything that the ledger stores about it. */
export interface CallToRecord {
  readonly call: CallAtHand;
  readonly entry: CallEntry;
  readonly more: WithCall;
  readonly session: Session;
  /** What the call lost of the cache; null for nothing. */
  readonly miss: PayloadOf<"cache.miss"> | null;
}

/** The route of a session that stays with its model. */
export const stays: Route = { by: "sticky", passedOver: [], left: null };

type Beginning = "id" | "startMs" | "event" | "limits" | "before" | "current";

/** A turn at its beginning. */
export function openTurn(begun: Pick<Turn, Beginning>, route: Route = stays): Turn {
  return {
    ...begun,
    route,
    switches: [],
    session: begun.before,
    fullResults: new Map(),
    isStored: false,
    earlier: [],
    calls: [],
    toolRuns: [],
    compactions: [],
    isCompacted: false,
    steered: [],
    aborted: null,
    rules: { compaction: {}, canCount: false },
    resumed: null,
    isAnnounced: false,
    isRouteNews: false,
    at: { after: "begin" },
    cuts: [],
  };
}

/** Recorded calls of the turn, made by this or another process. */
export function callCountOf({ earlier, calls }: Pick<Turn, "earlier" | "calls">): number {
  return earlier.length + calls.length;
}

/** `back`: 1 for the last recorded call, 2 for the one before. */
export function recordedCall(turn: Pick<Turn, "earlier" | "calls">, back: 1 | 2): CallEntry | null {
  const { earlier, calls } = turn;
  return calls.at(-back) ?? earlier.at(calls.length - back) ?? null;
}

/** `cut off`: the reply asked for tools but stopped for another reason, so its tool uses may be incomplete and are not run. */
export type TurnEnding = "done" | "failed" | "cancelled" | "cut off" | "too many calls";

/** How a turn with this last reply ends; null if another call follows. */
export function endingOf(
  stopReason: ReplyStop | null,
  uses: readonly ToolUseBlock[],
): TurnEnding | null {
  if (uses.length > 0) return stopReason === "tool_use" ? null : "cut off";
  return stopReason === "pause_turn" ? null : "done";
}

/** The call began with a stored prefix, and was refused as if the provider does not have it any more. */
export function isPrefixLost(
  { failure, plan }: Pick<CallRecord, "failure" | "plan">,
  { protocol }: Pick<Session, "protocol">,
): boolean {
  if (plan.stored === undefined || failure === null) return false;
  return protocol.storing?.mayBeGone(failure) === true;
}

/** The prompt is too long for the provider: a shorter one may work. */
export function isOverflow({ failure }: Pick<CallRecord, "failure">): boolean {
  return failure?.kind === "context-overflow" || failure?.kind === "request-too-large";
}
