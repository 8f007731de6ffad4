// What sub-agents are asked for with, and what it takes to open one.
import type { SessionParent, SessionRecord } from "../../core/ledger/session-record.ts";
import type { SessionOrigin } from "../../core/session/session.ts";
import type { Toolset } from "../../core/tools/toolsets.ts";
import type { DelegatedTask, SubAgentKind } from "../../edge/tools/delegate-tool.ts";
import type { EngineContext } from "../session/engine-deps.ts";
import type { EngineSession } from "../session/engine-session.ts";
import type { TurnHandle } from "../turn/turn-handle.ts";
import type { World, WorldOwner } from "../world/world.ts";
import type { FanOut } from "./fan-out.ts";
import type { SubAgentMark } from "./sub-agent-mark.ts";

/**
 * What is not said otherwise holds from the next use on; what the model is told of changes with the next session or
 * compaction.
 */
export interface DelegationOptions {
  /** Whether sessions may ask for sub-agents; they may by default. */
  readonly isEnabled?: boolean;
  /** Whether sub-agents may ask for others in turn. They may not by default (S-17). */
  readonly nested?: boolean;
  /** How deep, where they may; 3 by default. */
  readonly depthMax?: number;
  /** Of one session; 4 by default. */
  readonly atOnceMax?: number;
  /** Toolsets of the application's own, by which sub-agents are limited. */
  readonly toolsets?: readonly Toolset[];
  /** For workers; the model of whoever asks by default. A fork has its origin's: another could not read its cache. */
  readonly model?: string;
  /** What a worker is told of the environment where a task names a scope; without it, all of it. */
  readonly environmentFor?: (
    scope: readonly string[],
    parentSessionId: string,
  ) => Promise<string | null>;
  /** Of a report as whoever asked sees it; 20,000 by default. The rest can be read on. */
  readonly reportCharactersMax?: number;
  /** One that takes longer is ended; an hour by default. */
  readonly timeoutMs?: number;
  /** Told of every sub-agent when its turn begins. */
  readonly onStarted?: (started: StartedAgent) => void;
}

export interface StartedAgent {
  readonly sessionId: string;
  readonly parent: SessionParent;
  readonly kind: SubAgentKind;
  readonly task: string;
  readonly depth: number;
  readonly handle: TurnHandle;
}

/** What opening and running a sub-agent takes. */
export interface Delegation extends EngineContext {
  readonly readOptions: () => DelegationOptions;
  readonly fanOut: FanOut;
  readonly makeWorld: (owner: WorldOwner, mark: SubAgentMark | null) => Promise<World>;
}

/** A sub-agent to be opened. */
export interface AskedAgent {
  readonly id: string;
  readonly parent: SessionRecord;
  readonly from: SessionParent;
  readonly origin: SessionOrigin;
  readonly mark: SubAgentMark;
  readonly task: DelegatedTask;
  readonly options: DelegationOptions;
}

/** Open, and not told anything yet. */
export interface ReadyAgent {
  readonly agent: EngineSession;
  readonly text: string;
  /** What it has in common with its siblings and somebody has to write first; null for nothing. */
  readonly prefix: string | null;
}
