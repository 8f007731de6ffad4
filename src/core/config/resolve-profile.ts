// What one agent is told, on one of its bindings: its own settings, replaced by those of the binding.
import type { AgentProfile } from "../layers/agent-profile.ts";
import type { AgentEnvironment } from "../layers/environment.ts";
import { onlyPresent } from "../message/fields.ts";
import { didYouMean } from "../nearest-names.ts";
import { StrataError } from "../strata-error.ts";
import type { StrataConfig } from "./schema.ts";
import type { BindingConfig, EnvironmentConfig } from "./schema/agent-profile.ts";
import type { AgentConfig } from "./schema/agents.ts";

export interface ResolvedProfile {
  readonly profile: AgentProfile;
  /** Null for all. */
  readonly skills: readonly string[] | null;
  /** Granted besides those of the toolset. */
  readonly permissions: readonly string[];
  /** For events that do not say it. */
  readonly moment: { readonly sender?: string; readonly channel?: string };
  /** A module with tools; null for none. */
  readonly toolModule: string | null;
}

/** `asked`: the binding; by default the one that the agent's settings name. Throws for an unknown one. */
export function resolveProfile(
  config: StrataConfig,
  agentId: string,
  asked: string | null,
): ResolvedProfile {
  const { guidance } = config.models;
  const guiding = guidance.size === 0 ? {} : { guidance: toRecord(guidance) };
  const own = config.agents.get(agentId);
  if (own === undefined) {
    if (asked !== null) throw noBinding(agentId, asked, []);
    return { profile: guiding, skills: null, permissions: [], moment: {}, toolModule: null };
  }
  const binding = findBinding(own, agentId, asked);
  const peers = { ...toRecord(own.peers), ...toRecord(binding?.peers ?? new Map()) };
  const environment = toEnvironment(own.environment);
  return {
    profile: {
      ...guiding,
      ...(own.hasRoleRules ? {} : { roleRules: false }),
      ...onlyPresent({
        system: own.system,
        systemFile: own.systemFile,
        personaFile: own.personaFile,
        userIdentity: own.userIdentity,
        dailyNotes: own.dailyNotes,
        bindingPrompt: binding?.prompt ?? null,
        language: binding?.language ?? own.language,
      }),
      ...(environment === null ? {} : { environment }),
      ...(own.documents.length === 0 ? {} : { documents: own.documents }),
      ...(Object.keys(peers).length === 0 ? {} : { peers }),
    },
    skills: binding?.skills ?? own.skills,
    permissions: own.permissions ?? [],
    moment: onlyPresent({
      sender: binding?.sender ?? own.sender,
      channel: binding?.channel ?? own.channel,
    }),
    toolModule: own.toolModule,
  };
}

function findBinding(
  { binding, bindings }: AgentConfig,
  agentId: string,
  asked: string | null,
): BindingConfig | null {
  const name = asked ?? binding;
  if (name === null) return null;
  const found = bindings.get(name);
  if (found === undefined) throw noBinding(agentId, name, [...bindings.keys()]);
  return found;
}

function noBinding(agentId: string, name: string, known: readonly string[]): StrataError {
  const there =
    known.length === 0 ? "it has none; add it below bindings" : `there are ${known.join(", ")}`;
  return new StrataError(
    "config-invalid",
    `agent ${agentId} has no binding ${JSON.stringify(name.slice(0, 128))}`,
    didYouMean(name, known, there, 1),
  );
}

function toEnvironment(given: EnvironmentConfig): AgentEnvironment | null {
  const { credentialCount, brokenCredentials, guide } = given;
  const capabilities = [...given.capabilities].flatMap(([category, named]) =>
    [...named].map(([name, status]) => ({ category, name, status })),
  );
  const isBlank = credentialCount === 0 && brokenCredentials.length === 0 && guide === null;
  if (isBlank && capabilities.length === 0) return null;
  return { capabilities, credentialCount, brokenCredentials, guideHint: guide ?? "" };
}

function toRecord(texts: ReadonlyMap<string, string | null>): Readonly<Record<string, string>> {
  return Object.fromEntries([...texts].map(([name, text]) => [name, text ?? ""]));
}
