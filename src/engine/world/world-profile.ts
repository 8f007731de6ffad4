// An agent's profile in a session's world: its part of the system text, and changes of its environment.
import { hashContent } from "../../core/hash.ts";
import { personaIdOf, toPlainParts, type AgentProfile } from "../../core/layers/agent-profile.ts";
import {
  environmentText,
  scopeEnvironment,
  type AgentEnvironment,
} from "../../core/layers/environment.ts";
import type { Section } from "../../core/layers/section.ts";
import type { ContextParts } from "../../core/layers/to-sections.ts";
import { cutText } from "../../core/layers/workspace-cut.ts";
import type { Session } from "../../core/session/session.ts";
import { messageOf } from "../../core/strata-error.ts";
import { readOwnText } from "../../edge/files/own-text.ts";
import type { MemoryProvider, ScopedEnvironment, WorldContext, WorldOwner } from "./world.ts";

export interface WorldProfile {
  /** The current parts, for new system text, and where they come from. `inFolder`: the persona of the workspace. */
  context(inFolder?: ContextParts["persona"]): Promise<ProfileContext>;
  /** The environment, if the session's system text has another one. */
  forNextCall(session: Session): Promise<readonly Section[]>;
  /** The part of the environment that a task needs; null without an environment. */
  environmentFor(scope: readonly string[]): Promise<ScopedEnvironment | null>;
}

interface ProfileContext extends Pick<WorldContext, "personaId"> {
  readonly parts: Partial<ContextParts>;
  readonly notes: NonNullable<WorldContext["notes"]>;
}

export interface ProfileOf {
  /** Read again for each use. */
  readonly profile: () => AgentProfile;
  readonly owner: WorldOwner;
  readonly memoryProvider?: MemoryProvider | undefined;
  readonly onNotice: (notice: string) => void;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

export function createWorldProfile(of: ProfileOf): WorldProfile {
  const { profile, owner, now } = of;
  return {
    context: async (inFolder = {}) => {
      const { system, systemFile, persona, personaFile } = profile();
      const text = systemFile === undefined ? system : await readOwnText(systemFile, "system_file");
      const soul =
        personaFile === undefined ? {} : { soul: await readOwnText(personaFile, "persona_file") };
      const environment = await readEnvironment(profile());
      const externalMemory = await askProvider(of);
      const all = { ...inFolder, ...persona, ...soul };
      const parts = {
        ...toPlainParts(profile()),
        persona: all,
        ...(text === undefined ? {} : { system: text }),
        ...(environment === null ? {} : { environment: environmentText(environment) }),
        ...(externalMemory === null ? {} : { externalMemory }),
      };
      const notes = environment === null ? {} : { [sectionName]: toNote(environment, now()) };
      return { parts, notes, ...personaIdOf(profile(), all) };
    },
    forNextCall: async ({ madeOf }) => {
      // A worker learns of its environment with its task.
      if (owner.role === "worker") return [];
      const environment = await readEnvironment(profile());
      const shown = madeOf.find(({ name, note }) => name === sectionName && note === undefined);
      const text = environment === null ? "" : (environmentText(environment) ?? "");
      const hasChanged = shown === undefined ? text !== "" : hashContent(text) !== shown.hash;
      return hasChanged ? [toChange(text)] : [];
    },
    environmentFor: async (scope) => {
      const whole = await readEnvironment(profile());
      if (whole === null) return null;
      const { environment, unknown } = scopeEnvironment(whole, scope);
      const { capabilities } = whole;
      const names = capabilities.flatMap(({ category, name }) => [category, name]);
      return { text: environmentText(environment), unknown, known: [...new Set(names)] };
    },
  };
}

const sectionName = "environment";

async function readEnvironment({ environment }: AgentProfile): Promise<AgentEnvironment | null> {
  if (environment === undefined) return null;
  return typeof environment === "function" ? environment() : environment;
}

/** Recorded with the session: how much the environment offered, and when it was asked. */
function toNote({ capabilities }: AgentEnvironment, nowMs: number): object {
  return { capabilityCount: capabilities.length, snapshotAt: new Date(nowMs).toISOString() };
}

function toChange(text: string): Section {
  const body =
    text === ""
      ? "The environment has changed since the start of this session: nothing of it holds any more."
      : `The environment has changed since the start of this session. It is now:\n\n${text}`;
  return { name: sectionName, layer: "workspace", stability: "turn", text: body };
}

/** A memory outside never stops a session: it goes on without that text. */
async function askProvider({ memoryProvider, owner, onNotice }: ProfileOf): Promise<string | null> {
  if (memoryProvider === undefined) return null;
  const { name } = memoryProvider;
  try {
    const { sessionId, agent } = owner;
    const text = (await memoryProvider.recall({ sessionId, agent })) ?? "";
    const because = `a memory provider may give ${externalBytesMax} bytes`;
    return cutText(text, { bytesMax: externalBytesMax, name, because }).text;
  } catch (error) {
    onNotice(
      `the memory provider ${name} failed: ${messageOf(error)}; the session goes on without it`,
    );
    return null;
  }
}

const externalBytesMax = 16_384;
