// models and routing: the default model, shorter names, facts about more models, and the choice for each turn.
import { agentRoles, type AgentRole } from "../../message/assembled-context.ts";
import { isNothing, nodeAt, type ConfigNode } from "../config-node.ts";
import { isPattern, patternRules } from "../match-pattern.ts";
import * as leaves from "../leaves.ts";
import { group, listOf, named, section, written, type Surroundings } from "../sections.ts";
import { reportError, type Spec } from "../spec.ts";

export interface ModelsConfig {
  /** Null for the default model of a provider that has a key. */
  readonly default: string | null;
  readonly aliases: ReadonlyMap<string, string>;
  /** As `createCatalogue` takes them; null for none. */
  readonly add: unknown;
  readonly override: unknown;
  /** By a model's id, a provider, or the beginning of an id with `*`. */
  readonly guidance: ReadonlyMap<string, string | null>;
}

export interface RoutingConfig {
  /** Whether a session stays with its last model. */
  readonly isSticky: boolean;
  /** The first that fits decides. */
  readonly rules: readonly RoutingRule[];
  readonly patterns: readonly RoutingPattern[];
  readonly workspaceDefault: string | null;
  /** Models to go on with when a provider fails, in this order. */
  readonly fallback: readonly string[];
  /** So long a model whose provider failed is not asked first. */
  readonly fallbackRestSeconds: number;
  /** Whether a model without a prompt cache is refused, or taken last. Null for neither. */
  readonly promptCaching: PromptCachingWish | null;
}

export const promptCachingWishes = ["required", "preferred"] as const;

export type PromptCachingWish = (typeof promptCachingWishes)[number];

export interface RoutingRule {
  readonly model: string;
  readonly when: RoutingCondition;
}

/** All that are not null must hold. */
export interface RoutingCondition {
  readonly agent: string | null;
  readonly role: AgentRole | null;
  readonly hasImages: boolean | null;
  /** The size of the estimated prompt. */
  readonly tokensMin: number | null;
}

export interface RoutingPattern {
  readonly model: string;
  /** A regular expression for the user's text, ignoring case. */
  readonly match: string;
}

export const models: Spec<ModelsConfig> = group("models and their names", {
  default: leaves.text("the model of agents without their own"),
  aliases: named("shorter names for models", modelName("the model that the name stands for")),
  add: leaves.anything(
    "models that Strata has no facts about, in the form of strata models --models",
  ),
  override: leaves.anything("facts that replace those of known models, in the same form"),
  guidance: named(
    "text for some models alone, by a model's id, a provider, or the beginning of an id with *",
    leaves.prose("what agents are told on these models"),
  ),
});

const condition: Spec<RoutingCondition> = group("the conditions; all must hold", {
  agent: leaves.text("the agent's id"),
  role: leaves.optionalChoice(agentRoles, "the agent's role"),
  hasImages: leaves.optionalFlag("whether there are images in the message"),
  tokensMin: leaves.optionalWhole(
    { min: 1 },
    "the prompt has at least this many tokens, as estimated",
  ),
});

const rule: Spec<RoutingRule> = section(
  "one rule",
  { model: modelName("the model of the turn"), when: condition },
  (get, around) => {
    const [model, when] = [get("model"), get("when")];
    reportMissing(around, ["model", "when"]);
    return { model, when };
  },
);

const pattern: Spec<RoutingPattern> = section(
  "one pattern",
  {
    model: modelName("the model of the turn"),
    match: leaves.text("a regular expression for the user's text", {
      allowed: patternRules,
      isFit: isPattern,
    }),
  },
  (get, around) => {
    const [model, match] = [get("model"), get("match")];
    reportMissing(around, ["model", "match"]);
    return { model, match: match ?? "" };
  },
);

export const routing: Spec<RoutingConfig> = group("the choice of a model for each turn", {
  isSticky: written("sticky", leaves.flag(true, "whether a session stays with its last model")),
  rules: listOf("by properties of a turn; the first that fits decides", rule),
  patterns: listOf("by the user's text; the first that fits decides", pattern),
  workspaceDefault: leaves.text("the model of a workspace; comes before models.default"),
  fallback: leaves.texts([], "models to go on with when a provider fails for good, in this order"),
  fallbackRestSeconds: leaves.whole(
    { usual: 300, min: 0 },
    "so long a model whose provider failed is not asked first",
  ),
  promptCaching: leaves.optionalChoice(
    promptCachingWishes,
    "whether a model without a prompt cache is never taken, or taken last",
  ),
});

function modelName(meaning: string): Spec<string> {
  return leaves.leaf({
    meaning,
    allowed: "the name of a model",
    usual: "",
    accept: (value) =>
      typeof value === "string" && value !== "" && value.length <= 256 ? value : undefined,
    shape: { usual: null, fromText: (given) => given },
  });
}

function reportMissing({ node, context }: Surroundings, keys: readonly string[]): void {
  for (const key of keys.filter((each) => isEmpty(nodeAt(node, [each])))) {
    const origin = node?.origin ?? { kind: "default" as const };
    reportError(context, origin, `${context.path}.${key} is missing`, `add ${key}`);
  }
}

function isEmpty(node: ConfigNode | undefined): boolean {
  if (isNothing(node)) return true;
  return node.kind === "map"
    ? node.entries.length === 0
    : node.kind === "scalar" && node.value === "";
}
