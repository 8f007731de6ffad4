// What a turn needs of the world, what it is given, and what comes of it.
import type { AgentEvent, EventMoment } from "../../core/layers/event.ts";
import type { Section } from "../../core/layers/section.ts";
import type { CallEntry } from "../../core/ledger/call-entry.ts";
import type { Ledger } from "../../core/ledger/ledger.ts";
import type { Message } from "../../core/message/message.ts";
import type { StreamPart } from "../../core/wire/reply.ts";
import type { Provider } from "../../edge/providers/provider.ts";
import type { RunTools } from "./answer-tools.ts";
import type { Compaction } from "../compaction/compaction.ts";
import type { PromptCounter } from "./count-prompt.ts";
import type { Route } from "../../core/routing/decide-route.ts";
import type { Session } from "../../core/session/session.ts";
import type { Emitter } from "../events/turn-emitter.ts";
import type { TurnEnding } from "../../core/turn/turn-ending.ts";

/** Everything the steps of a turn need of the world. */
export interface StepDeps {
  readonly provider: Pick<Provider, "send">;
  /** Nothing is recorded without one, and nothing can be compacted. */
  readonly ledger?: Ledger;
  /** Runs the tools a reply asked for: a tool message for each use. What it throws is told to the model. */
  readonly runTools: RunTools;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Told what happens, as events; nobody by default. */
  readonly events?: Emitter;
  /** How the history is shortened; by default only where nothing else fits the window. */
  readonly compaction?: Compaction;
  /** Asked how long a prompt is where the estimate may be on the wrong side of a limit; nobody by default. */
  readonly counter?: PromptCounter;
  readonly signal?: AbortSignal;
  /** Told what streams in, as it comes. */
  readonly onPart?: (part: StreamPart) => void;
  /** Told what the turn does from now on. */
  readonly onPhase?: (phase: TurnPhase) => void;
  /** Told of the session once the ledger knows it. */
  readonly onRecorded?: (session: Session) => void;
  /** Asked before every call: the session with the settings of now. */
  readonly refresh?: (session: Session) => Promise<Session>;
  /** What was said to the agent while the turn runs; each is given once, with the next call. */
  readonly takeSteered?: () => readonly Message[];
}

/** Everything a turn needs of the world. */
export interface Deps extends StepDeps {
  readonly ledger: Ledger;
}

export type TurnPhase = "preparing" | "compacting" | "calling" | "running tools" | "over";

export interface TurnToRun {
  /** One that no turn of the ledger has; made by default. */
  readonly id?: string;
  readonly event: AgentEvent;
  /** Who decided on the session's model; it stays with it by default. */
  readonly route?: Route;
  /** More that holds for this turn only, such as what changed in memory; asked before every call if it can change. */
  readonly volatile?: readonly Section[] | (() => Promise<readonly Section[]>);
  /** The turn ends after this many calls. */
  readonly callsMax?: number;
}

export interface TurnToResume extends Pick<TurnToRun, "volatile" | "callsMax"> {
  /** What holds now; the event's own words are in the ledger. */
  readonly moment?: EventMoment;
}

export interface TurnRun {
  /** Goes on from here. Of a turn that did not end well, the messages are taken back. */
  readonly session: Session;
  readonly calls: readonly CallEntry[];
  readonly end: TurnEnding;
  /** What was said to the agent while it worked and came too late for a call; absent where nobody can say anything. */
  readonly unsaid?: readonly Message[];
}
