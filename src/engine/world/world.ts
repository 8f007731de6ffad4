// What a session is made of and can do: documents, memory, skills, tools. Everything here an application may replace.
import type { ContextParts } from "../../core/layers/to-sections.ts";
import type { Section } from "../../core/layers/section.ts";
import type { AgentRole } from "../../core/message/assembled-context.ts";
import type { SkillActivationRegistry } from "../../core/skills/skill-registry.ts";
import type { Dispatcher } from "../../edge/tools/dispatch/dispatcher.ts";
import type { FoundationSetup } from "../../core/session/session-foundation.ts";
import type { Session } from "../../core/session/session.ts";

/** Whose world it is. */
export interface WorldOwner {
  readonly sessionId: string;
  readonly agent: string;
  readonly role: AgentRole;
  /** As the ledger has it; absent for a new one. */
  readonly session?: Session;
}

export interface World {
  /** What the system prompt is made of by now. Asked when a session opens, and again at every compaction. */
  context(): Promise<WorldContext>;
  /** What it can do, and how that runs; nothing by default. */
  readonly tools?: Pick<Dispatcher, "toolsFor" | "runAll">;
  /** What holds for the next call only, such as memory that is not as the session's system text has it. */
  volatile?(session: Session): Promise<readonly Section[]>;
  /** Told which skills are in the prompt from the start, and which a compaction takes away. */
  readonly skills?: SkillActivationRegistry;
  close?(): Promise<void>;
}

export interface WorldContext extends Pick<
  FoundationSetup,
  "skills" | "skillIndexLengthMax" | "notes"
> {
  readonly parts: Omit<ContextParts, "skillIndex" | "role">;
}

/** Without documents, memory, skills or tools. */
export const emptyWorld: World = { context: () => Promise.resolve({ parts: {} }) };

/** Everything that tools and system text are made of by now. */
export async function foundationOf(
  world: World,
  role: AgentRole,
): Promise<Omit<FoundationSetup, "model" | "protocol" | "policy">> {
  const { parts, ...more } = await world.context();
  return { context: { role, ...parts }, ...world.tools?.toolsFor(role), ...more };
}
