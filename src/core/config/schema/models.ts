// models: which one is used, shorter names, and facts that Strata does not have. And which one a turn goes to.
import { agentRoles, type AgentRole } from "../../message/assembled-context.ts";
import { isNothing, nodeAt, type ConfigNode } from "../config-node.ts";
import { anything, flag, leaf, optionalChoice, optionalFlag, text } from "../leaves.ts";
import { listOf, named, section, type Surroundings } from "../sections.ts";
import { reportError, type Spec } from "../spec.ts";

export interface ModelsConfig {
  /** Null where whoever runs the agent decides by what can be reached. */
  readonly default: string | null;
  readonly aliases: ReadonlyMap<string, string>;
  /** As `createCatalogue` takes them; null for none. */
  readonly add: unknown;
  readonly override: unknown;
}

export interface RoutingConfig {
  /** Whether a session stays with the model it was last given. */
  readonly isSticky: boolean;
  /** The first that fits decides. */
  readonly rules: readonly RoutingRule[];
  readonly patterns: readonly RoutingPattern[];
  readonly workspaceDefault: string | null;
}

export interface RoutingRule {
  readonly model: string;
  readonly when: RoutingCondition;
}

/** All that are not null must hold. */
export interface RoutingCondition {
  readonly agent: string | null;
  readonly role: AgentRole | null;
  readonly hasImages: boolean | null;
  /** The estimated prompt has at least so many. */
  readonly tokensMin: number | null;
}

export interface RoutingPattern {
  readonly model: string;
  /** A regular expression on the words of the user, upper and lower case alike. */
  readonly match: string;
}

export const models: Spec<ModelsConfig> = section(
  "models and their names",
  {
    default: text("the model of every agent that has none of its own"),
    aliases: named("shorter names for models", modelName("the model it stands for")),
    add: anything("models that Strata has no facts about, as strata models --models takes them"),
    override: anything("facts that replace those of known models, in the same form"),
  },
  (get) => ({
    default: get("default"),
    aliases: get("aliases"),
    add: get("add"),
    override: get("override"),
  }),
);

const condition: Spec<RoutingCondition> = section(
  "what must hold",
  {
    agent: text("the agent's id"),
    role: optionalChoice(agentRoles, "the agent's role"),
    has_images: optionalFlag("whether there are images in the message"),
    tokens_min: leaf<number | null>({
      meaning: "the prompt has at least so many tokens, as estimated",
      allowed: "a whole number from 1",
      usual: null,
      accept: (value) =>
        typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : undefined,
      shape: { usual: null },
    }),
  },
  (get) => ({
    agent: get("agent"),
    role: get("role"),
    hasImages: get("has_images"),
    tokensMin: get("tokens_min"),
  }),
);

const rule: Spec<RoutingRule> = section(
  "one rule",
  { model: modelName("where the turn goes"), when: condition },
  (get, around) => {
    const [model, when] = [get("model"), get("when")];
    reportMissing(around, ["model", "when"]);
    return { model, when };
  },
);

const pattern: Spec<RoutingPattern> = section(
  "one pattern",
  {
    model: modelName("where the turn goes"),
    match: text("a regular expression on the words of the user", {
      allowed:
        "text that is a regular expression of at most 500 characters, without repetitions inside a repetition",
      isFit: isExpression,
    }),
  },
  (get, around) => {
    const [model, match] = [get("model"), get("match")];
    reportMissing(around, ["model", "match"]);
    return { model, match: match ?? "" };
  },
);

export const routing: Spec<RoutingConfig> = section(
  "which model a turn goes to",
  {
    sticky: flag(true, "whether a session stays with the model it was last given"),
    rules: listOf("by what a turn is; the first that fits decides", rule),
    patterns: listOf("by what the user says; the first that fits decides", pattern),
    workspace_default: text("before models.default, for the workspace this file lies in"),
  },
  (get) => ({
    isSticky: get("sticky"),
    rules: get("rules"),
    patterns: get("patterns"),
    workspaceDefault: get("workspace_default"),
  }),
);

function modelName(meaning: string): Spec<string> {
  return leaf({
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

/** A repetition of what repeats, or of alternatives, can take for ever on a few words. */
const nestedRepetition = /\((?:[^()\\]|\\.)*(?:[+*|]|\{\d)(?:[^()\\]|\\.)*\)(?:[+*]|\{\d)/;

function isExpression(given: string): boolean {
  if (given.length > 500 || nestedRepetition.test(given)) return false;
  try {
    return new RegExp(given, "iu").source !== "";
  } catch {
    return false;
  }
}
