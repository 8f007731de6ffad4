// A session's documents, memory, skills and tools. An application may replace any of them.
import type { Layout } from "../../core/assembly/layout.ts";
import type { ContextParts } from "../../core/layers/to-sections.ts";
import type { Section } from "../../core/layers/section.ts";
import type { AgentRole } from "../../core/message/assembled-context.ts";
import type { SkillActivationRegistry } from "../../core/skills/skill-registry.ts";
import type { Dispatcher } from "../../edge/tools/dispatch/dispatcher.ts";
import type { FoundationSetup } from "../../core/session/session-foundation.ts";
import type { Session } from "../../core/session/session.ts";
import { usualRole } from "../../core/session/session-role.ts";

/** The owner of a world. */
export interface WorldOwner {
  readonly sessionId: string;
  readonly agent: string;
  readonly role: AgentRole;
  /** The session from the ledger; absent for a new one. */
  readonly session?: Session;
  /** The layout of a new session's prompt. */
  readonly layout?: Layout;
}

export interface World {
  /** The current parts of the system prompt. Called when a session opens, and at every compaction. */
  context(): Promise<WorldContext>;
  /** Its tools and how they run; none by default. */
  readonly tools?: Pick<Dispatcher, "toolsFor" | "runAll">;
  /** Text for the next call only, such as memory that changed after the system text was built. */
  volatile?(session: Session): Promise<readonly Section[]>;
  /** The part of the environment that a worker's task needs; null without an environment. */
  environmentFor?(scope: readonly string[]): Promise<ScopedEnvironment | null>;
  /** Gets the skills that are in the prompt from the start, and those that a compaction removes. */
  readonly skills?: SkillActivationRegistry;
  close?(): Promise<void>;
}

export interface ScopedEnvironment {
  /** Null if nothing is left to say. */
  readonly text: string | null;
  /** Names in the scope that are neither a capability nor a category. */
  readonly unknown: readonly string[];
  /** The names that there are. */
  readonly known: readonly string[];
}

/** A memory outside the workspace. Its text stands in the system text of a session (T2), beside memory. */
export interface MemoryProvider {
  readonly name: string;
  /** Asked when system text is built: for a new session, another model, and at a compaction. Null for nothing. */
  recall(of: Pick<WorldOwner, "sessionId" | "agent">): Promise<string | null>;
}

export interface WorldContext extends Pick<
  FoundationSetup,
  "skills" | "skillIndexLengthMax" | "notes" | "personaId"
> {
  readonly parts: Omit<ContextParts, "skillIndex" | "role">;
}

/** A world without documents, memory, skills or tools. */
export const emptyWorld: World = { context: () => Promise.resolve({ parts: {} }) };

/** The current inputs for tools and system text. `asked`: the role whose rules are part of them. */
export async function foundationOf(
  world: World,
  asked: AgentRole | undefined,
): Promise<Omit<FoundationSetup, "model" | "protocol" | "policy">> {
  const { parts, ...more } = await world.context();
  const role = asked === undefined ? {} : { role: asked };
  return { context: { ...role, ...parts }, ...world.tools?.toolsFor(asked ?? usualRole), ...more };
}
