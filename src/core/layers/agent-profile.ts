// What one agent is told about itself, its work and its people, besides the documents of its workspace.
import type { Lifetime } from "../message/usage.ts";
import type { AgentEnvironment } from "./environment.ts";
import { readIdentity } from "./workspace-identity.ts";

/** Changes hold for new sessions, and from the next compaction on; those of the environment from the next call on. */
export interface AgentProfile {
  /** The system prompt, before everything else. */
  readonly system?: string;
  /** Texts that stand first in the system prompt after `system`, each kept by the provider as long as it asks. */
  readonly blocks?: readonly ProfileBlock[];
  /** A file with the system prompt, as an absolute path. */
  readonly systemFile?: string;
  /** In place of the workspace's IDENTITY.md and SOUL.md. */
  readonly persona?: { readonly identity?: string | null; readonly soul?: string | null };
  /** A file with the persona, in place of the workspace's SOUL.md. */
  readonly personaFile?: string;
  /** Whether the rules of its role are part of the prompt; true by default. */
  readonly roleRules?: boolean;
  readonly userIdentity?: string;
  /** Listed in the prompt. */
  readonly permissions?: readonly string[];
  /** A function is asked before every call, so that a change is seen. */
  readonly environment?: AgentEnvironment | (() => AgentEnvironment | Promise<AgentEnvironment>);
  /** More documents, as paths from the workspace. */
  readonly documents?: readonly string[];
  /** Notes of the day, as a path from the workspace with `{date}` in it. */
  readonly dailyNotes?: string;
  /** Other agents and people, each with a line about them. */
  readonly peers?: Readonly<Record<string, string>>;
  /** What it is told where people reach it now. */
  readonly bindingPrompt?: string;
  /** The language to answer in. */
  readonly language?: string;
  /** By a model's id, a provider, or the beginning of an id with `*`: text for these models alone. */
  readonly guidance?: Readonly<Record<string, string>>;
}

export interface ProfileBlock {
  /** For people and records; the model does not see it. */
  readonly label: string;
  /** Null or blank for nothing. */
  readonly text: string | null;
  /** The policy decides by default, and for null. */
  readonly lifetime?: Lifetime | null;
}

/** The parts of a prompt that are in the profile as they are sent. */
export function toPlainParts(
  profile: AgentProfile,
): Pick<AgentProfile, (typeof plainParts)[number]> {
  const given = plainParts.filter((name) => profile[name] !== undefined);
  return Object.fromEntries(given.map((name) => [name, profile[name]]));
}

const plainParts = [
  "blocks",
  "roleRules",
  "userIdentity",
  "permissions",
  "peers",
  "bindingPrompt",
  "language",
  "guidance",
] as const;

/** What a persona is recorded as: the name of its file, else the name in its identity. Empty for one without a name. */
export function personaIdOf(
  { personaFile }: AgentProfile,
  { identity }: NonNullable<AgentProfile["persona"]>,
): { readonly personaId?: string } {
  const file = personaFile
    ?.split(/[/\\]/)
    .at(-1)
    ?.replace(/\.[^.]+$/, "");
  const personaId = file ?? readIdentity(identity ?? "").name;
  return personaId === null ? {} : { personaId };
}

/** The guidance for one model: every text whose name fits, in the order given. Null for none. */
export function guidanceFor(
  guidance: Readonly<Record<string, string>>,
  { id, provider }: { readonly id: string; readonly provider: string },
): string | null {
  const fitting = Object.entries(guidance).flatMap(([name, text]) => {
    const fits = name.endsWith("*")
      ? id.startsWith(name.slice(0, -1))
      : name === id || name === provider;
    return fits && text.trim() !== "" ? [text.trim()] : [];
  });
  return fitting.length === 0 ? null : fitting.join("\n\n");
}

/** A line for each, sorted by name. */
export function describePeers(peers: Readonly<Record<string, string>>): string {
  const names = Object.keys(peers).toSorted();
  const lines = names.map((name) => {
    const about = peers[name]?.trim() ?? "";
    return about === "" ? `- ${name}` : `- ${name}: ${about}`;
  });
  return lines.join("\n");
}
