// The deps of a turn, its input and its result.
import type { Redact } from "../../core/events/redact-secrets.ts";
import type { AgentEvent, EventMoment } from "../../core/layers/event.ts";
import type { Section } from "../../core/layers/section.ts";
import type { Ledger } from "../../core/ledger/ledger.ts";
import type { Message, ToolUseBlock } from "../../core/message/message.ts";
import type { SkillActivationRegistry } from "../../core/skills/skill-registry.ts";
import type { CompactionRules } from "../../core/session/compaction-rules.ts";
import type { FoundationSetup } from "../../core/session/session-foundation.ts";
import type { Miss } from "../../core/turn/diagnose-call.ts";
import type { StreamPart } from "../../core/wire/reply.ts";
import type { Provider } from "../../edge/providers/provider.ts";
import type { Counter } from "../../edge/counters/counter.ts";
import type { DispatchContext } from "../../edge/tools/dispatch/dispatch-options.ts";
import type { CompactionHooks } from "../compaction/compaction-hooks.ts";
import type { Summariser } from "../compaction/summarise-transcript.ts";
import type { Route } from "../../core/routing/decide-route.ts";
import type { Session } from "../../core/session/session.ts";
import type { SpendingGuard } from "../../core/session/spending-cap.ts";
import type { MovedTurn } from "../../core/turn/move-turn.ts";
import type { StepOf } from "../../core/turn/step.ts";
import type { Turn } from "../../core/turn/turn.ts";
import type { Emitter } from "../events/turn-emitter.ts";
import type { TurnQueue } from "./steering.ts";

/** Runs tools. A dispatcher's `runAll` is one of these. */
export type RunTools = (
  uses: readonly ToolUseBlock[],
  call: DispatchContext,
) => Promise<readonly Message[]>;

/** Counts prompts exactly, and learns from what they were billed. */
export type PromptCounter = Pick<Counter, "count" | "noteBill">;

/** How the history is shortened, and with what. */
export interface Compaction extends CompactionRules {
  readonly summariser?: Summariser;
  /**
   * The current inputs for tools and system text, such as changed memory; null to keep the old ones. Called at
   * every compaction, which breaks the cache anyway.
   */
  readonly refresh?: () => Promise<FoundationSetup | null>;
  /** Lets the agent load skills again whose bodies a compaction removed. */
  readonly skills?: Pick<SkillActivationRegistry, "state" | "releaseCompacted">;
  /** What the application runs before and after. */
  readonly hooks?: CompactionHooks;
  /** Waits between attempts at a summary. */
  readonly sleep?: (ms: number, signal?: AbortSignal) => Promise<void>;
}

export interface StepDeps {
  readonly provider: Pick<Provider, "send">;
  /** Without a ledger nothing is recorded and nothing can be compacted. */
  readonly ledger?: Ledger;
  /** Runs the tools of a reply and returns a tool message for each use. The model sees its errors. */
  readonly runTools: RunTools;
  /** The permissions that a tool needs; none by default. */
  readonly permissionsOf?: (tool: string) => readonly string[];
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Gets the events; none by default. */
  readonly events?: Emitter;
  /** Which rules choose models; "none" by default. */
  readonly routingVersion?: string;
  /** Takes secrets out of the application's tool results; `runTools` gives clean ones. */
  readonly redact?: Redact;
  /** How the history is shortened; by default only if it does not fit the window. */
  readonly compaction?: Compaction;
  /** Counts a prompt exactly if the estimate is near a limit; none by default. */
  readonly counter?: PromptCounter | undefined;
  /** Finds a model that goes on with a turn whose provider failed; null for none. From then on `provider` is that model's. */
  readonly switchModel?: SwitchModel | undefined;
  /** Whether a call may be sent within the spending caps; none by default. */
  readonly spending?: SpendingGuard;
  readonly signal?: AbortSignal;
  readonly onPart?: (part: StreamPart) => void;
  readonly onPhase?: (phase: TurnPhase) => void;
  /** Called after a call that read less from the cache than it could have. */
  readonly onMiss?: (callNumber: number, miss: Miss) => void;
  /** Called after a call that named a stored prefix which the provider does not have any more. */
  readonly onPrefixLost?: (id: string, detail: string) => void;
  readonly onRecorded?: (session: Session) => void;
  /** Called before every call. Returns the session with the current settings. */
  readonly refresh?: (session: Session) => Promise<Session>;
  /** Returns new messages to the agent while the turn runs, each once. */
  readonly takeSteered?: () => readonly Message[];
  readonly queue?: TurnQueue;
}

type SwitchModel = (turn: Turn, step: StepOf<"switch model">) => Promise<MovedTurn | null>;

export interface Deps extends StepDeps {
  readonly ledger: Ledger;
}

export type TurnPhase = "preparing" | "compacting" | "calling" | "running tools" | "over";

export interface TurnToRun {
  /** A new id; random by default. */
  readonly id?: string;
  readonly event: AgentEvent;
  /** Who chose the model; by default the session stays with its own. */
  readonly route?: Route;
  /** More text for this turn only, such as changed memory. A function is called before every call. */
  readonly volatile?: readonly Section[] | (() => Promise<readonly Section[]>);
  /** The turn ends after this many calls. */
  readonly callsMax?: number;
  /** Whether its history may be compacted; true by default. */
  readonly mayCompact?: boolean;
}

export interface TurnToResume extends Pick<TurnToRun, "volatile" | "callsMax"> {
  /** The current time and place; the ledger has the event's text. */
  readonly moment?: EventMoment;
}
