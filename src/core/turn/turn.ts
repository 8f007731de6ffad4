// A turn as data: what it has done, what it sends next, and how far it is. No lease, signal, stream or function.
import type { Section } from "../layers/section.ts";
import type { EventBody } from "../events/event.ts";
import type { EventContext, EventMoment } from "../layers/event.ts";
import type { CallEntry } from "../ledger/call-entry.ts";
import type { WithCall } from "../ledger/ledger.ts";
import type { Message } from "../message/message.ts";
import type { Route } from "../routing/decide-route.ts";
import type { CompactionRules } from "../session/compaction-rules.ts";
import type { Session } from "../session/session.ts";
import type { PreparedCall } from "./prepare-call.ts";
import type { TurnEnding } from "./turn-ending.ts";

export interface Turn {
  readonly id: string;
  readonly event: TurnEvent;
  readonly route: Route;
  readonly limits: TurnLimits;
  /** The session as it was before the turn: what a turn that fails goes back to. */
  readonly before: Session;
  /** The session with the calls made so far. */
  readonly session: Session;
  /** What the next call sends that is new. */
  readonly current: readonly Message[];
  /** By place in `current`: the full text of a tool result that was cut. */
  readonly fullResults: ReadonlyMap<number, string>;
  /** Whether the ledger has `current`. */
  readonly isStored: boolean;
  /** Calls that another process made before this one resumed the turn, oldest first. */
  readonly earlier: readonly CallEntry[];
  /** Recorded calls of this process, oldest first. */
  readonly calls: readonly CallEntry[];
  /** Whether the history was compacted after the last recorded call. */
  readonly isCompacted: boolean;
  /** What people said while the turn runs and no call has sent yet. */
  readonly said: readonly Message[];
  /** Why the caller stopped the turn; null while it runs on. */
  readonly aborted: Abort | null;
  /** Settings of the next call; asked for before each one. */
  readonly rules: CallRules;
  /** Null for a turn that begins here; what a resumed one had done before. */
  readonly resumed: { readonly toolCalls: number } | null;
  /** Whether the events say that the turn has begun or was resumed. */
  readonly isAnnounced: boolean;
  readonly at: Stage;
  /** Events that follow from the last result. */
  readonly news: readonly EventBody[];
}

/** What the turn is about besides its words. */
export interface TurnEvent {
  /** Null where the application says in its own words what holds for a call. */
  readonly moment: EventMoment | null;
  /** The ledger's note on the first message; null where it has one already. */
  readonly context: (EventContext & { readonly injectedAt: string }) | null;
  /** The time as the first call says it. */
  readonly startIso: string;
  /** When a call of this turn last said the time; null before the first. */
  readonly toldMs: number | null;
}

export interface TurnLimits {
  /** A turn that asks for tools more often than this ends. */
  readonly callsMax: number;
  /** False where the application owns the history: then nothing of it is shortened. */
  readonly mayCompact: boolean;
  /** True where the application sends a failed call again by itself, except a turn's first. */
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

/** What was done last; what comes next follows from it. */
export type Stage =
  | { readonly after: "begin" }
  | { readonly after: "refresh"; readonly moment: CallMoment }
  | { readonly after: "prepare"; readonly call: CallAtHand }
  /** What the call sends is in the ledger. */
  | { readonly after: "record"; readonly call: CallAtHand }
  | { readonly after: "count"; readonly call: CallAtHand }
  /** The prompt must be made again, with this volatile text: it was compacted, or memory has to leave. */
  | {
      readonly after: "compact";
      readonly moment: CallMoment;
      readonly volatile: CallMoment["volatile"];
    }
  /** Nothing more is done to the prompt. */
  | { readonly after: "settle prompt"; readonly call: CallAtHand }
  | { readonly after: "send"; readonly sent: CallToRecord }
  /** `call` is null where another process made it. */
  | { readonly after: "record reply"; readonly call: CallAtHand | null }
  | { readonly after: "end"; readonly how: TurnEnding };

/** What holds for one call: its time, and text that is sent with this call alone. */
export interface CallMoment {
  readonly nowMs: number;
  /** Null where nothing new is said. */
  readonly volatile: readonly Section[] | null;
}

export interface CallAtHand {
  readonly moment: CallMoment;
  readonly prepared: PreparedCall;
}

/** A reply with everything the ledger keeps of it. */
export interface CallToRecord {
  readonly call: CallAtHand;
  readonly entry: CallEntry;
  readonly more: WithCall;
  /** The session after it. */
  readonly session: Session;
}

type Fresh =
  | "fullResults"
  | "isStored"
  | "earlier"
  | "calls"
  | "isCompacted"
  | "said"
  | "aborted"
  | "rules"
  | "isAnnounced"
  | "at"
  | "news";

/** What every turn begins with. */
export const newTurn: Pick<Turn, Fresh> = {
  fullResults: new Map(),
  isStored: false,
  earlier: [],
  calls: [],
  isCompacted: false,
  said: [],
  aborted: null,
  rules: { compaction: {}, canCount: false },
  isAnnounced: false,
  at: { after: "begin" },
  news: [],
};

/** Recorded calls of the turn, whoever made them. */
export function callCountOf({ earlier, calls }: Pick<Turn, "earlier" | "calls">): number {
  return earlier.length + calls.length;
}

/** `back`: 1 for the last recorded call, 2 for the one before. */
export function recordedCall(turn: Pick<Turn, "earlier" | "calls">, back: 1 | 2): CallEntry | null {
  const { earlier, calls } = turn;
  return calls.at(-back) ?? earlier.at(calls.length - back) ?? null;
}
