// Options for sub-agents, and what opening one needs.
import type { SessionParent, SessionRecord } from "../../core/ledger/session-record.ts";
import type { SessionOrigin, SectionNote, Session } from "../../core/session/session.ts";
import type { Toolset } from "../../core/tools/toolsets.ts";
import {
  type DelegatedTask,
  type SubAgentKind,
  subAgentKinds,
} from "../../edge/tools/delegate-tool.ts";
import type { EngineContext } from "../session/engine-deps.ts";
import type { EngineSession } from "../session/engine-session.ts";
import type { TurnHandle } from "../turn/turn-handle.ts";
import type { World, WorldOwner } from "../world/world.ts";
import type { FanOut } from "./fan-out.ts";
import { toSourceNote } from "../../core/session/session-foundation.ts";

/**
 * Changes hold from the next use on, unless an option says otherwise. The tool list changes with the next session or
 * compaction.
 */
export interface DelegationOptions {
  /** Whether sessions may start sub-agents; true by default. */
  readonly isEnabled?: boolean;
  /** Whether sub-agents may start others; false by default. */
  readonly nested?: boolean;
  /** Deepest nesting if `nested`; 3 by default. */
  readonly depthMax?: number;
  /** Most running sub-agents of one session; 4 by default. */
  readonly atOnceMax?: number;
  /** The application's own toolsets to limit sub-agents. */
  readonly toolsets?: readonly Toolset[];
  /** The model of workers; the parent's model by default. A fork always has its parent's: another could not read its cache. */
  readonly model?: string;
  /** The environment that a worker sees if its task names a scope; by default the named part of the agent's environment. */
  readonly environmentFor?: (
    scope: readonly string[],
    parentSessionId: string,
  ) => Promise<string | null>;
  /** Longest page of a report; 20,000 by default. The parent can read further pages. */
  readonly reportCharactersMax?: number;
  /** Time limit of a sub-agent; an hour by default. */
  readonly timeoutMs?: number;
  /** Called when a sub-agent's turn begins. */
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

/** What opening and running a sub-agent needs. */
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

/** An open sub-agent before its first message. */
export interface ReadyAgent {
  readonly agent: EngineSession;
  readonly text: string;
  /** The prefix it shares with siblings, which one of them must write first; null for none. */
  readonly prefix: string | null;
}

export interface SubAgentMark {
  readonly kind: SubAgentKind;
  /** Names of toolsets, the parents' first. It may use only tools that are in all of them. */
  readonly toolsets: readonly string[];
  /** 1 for a sub-agent of a person's agent. */
  readonly depth: number;
}

export const markName = "sub-agent";

/** The mark in the form of a session's other notes. */
export function toMarkNote(mark: SubAgentMark): SectionNote {
  return toSourceNote([markName, mark]);
}

/** Null for a session that is not a sub-agent. The last mark counts: a fork also has its origin's. */
export function findMark({ madeOf }: Pick<Session, "madeOf">): SubAgentMark | null {
  const note = madeOf.findLast(({ name }) => name === markName)?.note;
  if (note === undefined || !("depth" in note) || typeof note.depth !== "number") return null;
  const known = subAgentKinds.find((kind) => "kind" in note && note.kind === kind);
  const names: unknown = "toolsets" in note ? note.toolsets : [];
  const toolsets = Array.isArray(names) ? names.filter((name) => typeof name === "string") : [];
  return known === undefined ? null : { kind: known, toolsets, depth: note.depth };
}
