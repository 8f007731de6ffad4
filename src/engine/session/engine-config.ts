// The configuration of an engine as a plain value: the model, its options, when to shorten histories.
import type { PaddingMode } from "../../core/assembly/layout.ts";
import type { PaceKind } from "../../core/cache/pace.ts";
import { findPolicy } from "../../core/cache/policies.ts";
import type { Policy, PolicyName } from "../../core/cache/policy.ts";
import type { CompactionSettings } from "../../core/compaction/plan/settings.ts";
import { hashContent } from "../../core/hash.ts";
import type { AgentEvent } from "../../core/layers/event.ts";
import type { RoutingConfig } from "../../core/config/schema/models.ts";
import { usualQueue, type QueueConfig } from "../../core/config/schema/queue.ts";
import type { AgentRole } from "../../core/message/assembled-context.ts";
import type { Reserves } from "../../core/tokens/budget.ts";
import type { CallOptions } from "../../core/wire/protocol.ts";
import type { Compaction } from "../turn/deps.ts";
import type { Catalogue } from "../../core/models/catalogue.ts";
import type { ModelFacts } from "../../core/models/model-facts.ts";
import { findModel, resolveModel } from "../../core/models/resolve-model.ts";
import { nameOf } from "../../core/session/session.ts";
import type { SpendingOptions } from "./spending.ts";

export interface EngineConfig {
  /** Any spelling of a model's name. */
  readonly model: string;
  /** The agent's name; `agent` by default. */
  readonly agent?: string;
  /** Its rules are part of the prompt; no role and no rules by default. */
  readonly role?: AgentRole;
  /** `adaptive` by default. */
  readonly policy?: PolicyName | Policy;
  /** Whether a prompt that is too short to be cached is made longer; the policy decides by default. */
  readonly padding?: PaddingMode;
  /** Call options: the longest reply, streaming, effort … */
  readonly options?: Partial<CallOptions>;
  readonly compaction?: CompactionSettings;
  readonly reserves?: Reserves;
  /** What usually causes the next call; a person by default. */
  readonly pace?: PaceKind;
  /** The turn ends after this many calls. */
  readonly callsMax?: number;
  readonly workspacePath?: string;
  /** Who writes and where, for events that do not say it. */
  readonly moment?: Pick<AgentEvent, "sender" | "channel">;
  /** Refreshes the cache of waiting sessions where that saves money, for at most so many dollars in an hour; off by default. */
  readonly keepWarm?: { readonly usdPerHour: number };
  /** Has providers keep the beginning of prompts under a name where that pays, for at most so many dollars in an hour; off by default. */
  readonly storedPrefix?: { readonly usdPerHour: number };
  /** What happens to messages that come while a session is busy. */
  readonly queue?: Partial<QueueConfig>;
  /** Rules that choose a turn's model, and models to fall back on. By default every session stays with its own. */
  readonly routing?: Partial<RoutingConfig>;
  /** Caps on what its calls may cost; none by default. */
  readonly spending?: SpendingOptions;
}

const routingUsual: RoutingConfig = {
  isSticky: true,
  rules: [],
  patterns: [],
  workspaceDefault: null,
  fallback: [],
  fallbackRestSeconds: 300,
  promptCaching: null,
};

/** Equal settings of the routing have equal versions. */
export function routingVersionOf(config: EngineConfig): string {
  return hashContent(JSON.stringify(routingOf(config))).slice(0, 12);
}

export function routingOf({ routing }: EngineConfig): RoutingConfig {
  return { ...routingUsual, ...routing };
}

export function queueOf({ queue }: EngineConfig): QueueConfig {
  return { ...usualQueue, ...queue };
}

export function policyOf({ policy = "adaptive", padding }: EngineConfig): Policy {
  const found = typeof policy === "string" ? findPolicy(policy) : policy;
  return padding === undefined ? found : { ...found, layout: { ...found.layout, padding } };
}

/** Longest reply by default. */
const outputTokensUsual = 16_000;

export function optionsOf(
  { options }: EngineConfig,
  { outputTokensMax }: { readonly outputTokensMax: number | null },
): CallOptions {
  const most = outputTokensMax ?? Number.MAX_SAFE_INTEGER;
  const { outputTokensMax: asked = outputTokensUsual } = options ?? {};
  return { stream: true, ...options, outputTokensMax: Math.min(asked, most) };
}

export function compactionOf({
  compaction,
  reserves,
}: Pick<EngineConfig, "compaction" | "reserves">): Compaction {
  return {
    ...(compaction === undefined ? {} : { settings: compaction }),
    ...(reserves === undefined ? {} : { reserves }),
  };
}

export interface Naming {
  /** Resolves an alias; by default names stay as they are. */
  readonly nameModel?: (name: string) => string;
  readonly catalogue?: Catalogue;
}

/** The `Session.modelName` of a name: aliases are resolved, and all spellings of a model give the same result. */
export function spell(name: string, { nameModel, catalogue }: Naming): string {
  const given = nameModel?.(name) ?? name;
  const facts = findModel(given, catalogue)?.facts;
  if (facts === undefined) return given;
  const plain = nameOf(facts);
  return findModel(plain, catalogue)?.facts === facts ? plain : given;
}

/** Throws for an unknown name, with the nearest known names. */
export function findNamed(name: string, naming: Naming): ModelFacts {
  return resolveModel(spell(name, naming), naming.catalogue).facts;
}

/** Finds the model that a session was recorded with. */
export function findRecorded(
  { model, name }: { readonly model: string; readonly name?: string | undefined },
  { catalogue }: Naming,
): ModelFacts {
  const spelled = name === undefined ? null : findModel(name, catalogue);
  return (spelled ?? resolveModel(model, catalogue)).facts;
}
