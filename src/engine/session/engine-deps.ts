// The deps of an engine, and how it reaches a model.
import type { Redact } from "../../core/events/redact-secrets.ts";
import type { Ledger } from "../../core/ledger/ledger.ts";
import type { ModelFacts } from "../../core/models/model-facts.ts";
import type { LearnedSizes } from "../../core/tokens/learned-sizes.ts";
import type { TextCounter } from "../../core/tokens/o200k/counter.ts";
import type { Protocol } from "../../core/wire/protocol.ts";
import type { Provider } from "../../edge/providers/provider.ts";
import type { CompactionHook } from "../compaction/compaction-hooks.ts";
import type { Summariser } from "../compaction/summarise-transcript.ts";
import type { Emitter } from "../events/turn-emitter.ts";
import type { PromptCounter } from "../turn/deps.ts";
import type { World, WorldOwner } from "../world/world.ts";
import type { EngineConfig, Naming } from "./engine-config.ts";

/** How a model is reached. */
export interface Reached {
  readonly protocol: Protocol;
  readonly provider: Pick<Provider, "send">;
  /** Counts a prompt exactly near a limit; only estimates by default. */
  readonly counter?: PromptCounter;
}

export interface EngineDeps extends Naming {
  readonly ledger: Ledger;
  readonly reach: (model: ModelFacts) => Reached | Promise<Reached>;
  /** Whether a provider for the model is configured and up; true by default. */
  readonly canReach?: (model: ModelFacts) => boolean;
  readonly counter: TextCounter;
  /** Builds the world of each session; an empty world by default. */
  readonly world?: (owner: WorldOwner) => Promise<World>;
  /** Another model for summaries; the session's own by default. */
  readonly summariser?: () => Promise<Summariser | null>;
  /** Run before and after every compaction, all together. Their errors are notices. */
  readonly compactionHooks?: readonly CompactionHook[];
  readonly events?: Emitter;
  /** Called with each notice for a person, such as that a provider takes no cache markers. */
  readonly onNotice?: (notice: string) => void;
  /** Takes secrets out of every tool result before it is recorded, sent or shown. */
  readonly redact?: Redact;
  /** Milliseconds since 1970; the machine's clock by default. */
  readonly now?: () => number;
  /** Runs a function after a delay; returns what cancels it. By default a timer that does not keep the process alive. */
  readonly after?: (delayMs: number, run: () => void) => () => void;
}

export interface EngineContext {
  readonly deps: EngineDeps;
  /** What its sessions learned about sizes: limits by the model's name, all else by model and agent. */
  readonly sizes?: Map<string, LearnedSizes>;
  readonly readConfig: () => Promise<EngineConfig>;
}
