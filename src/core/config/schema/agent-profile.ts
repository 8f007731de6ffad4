// agents.<id>: what an agent is told about itself, its work and its people.
import { statuses, type CapabilityStatus } from "../../layers/environment.ts";
import { choice, flag, optionalTexts, prose, text, texts, whole } from "../leaves.ts";
import { group, named, written } from "../sections.ts";
import type { Spec } from "../spec.ts";
import { path } from "./places.ts";

/** Null, or an empty list, for a part that is not written. */
export interface ProfileConfig extends BindingParts {
  readonly hasRoleRules: boolean;
  readonly system: string | null;
  readonly systemFile: string | null;
  readonly personaFile: string | null;
  readonly userIdentity: string | null;
  /** Null if they are not listed in the prompt. */
  readonly permissions: readonly string[] | null;
  readonly environment: EnvironmentConfig;
  readonly documents: readonly string[];
  readonly dailyNotes: string | null;
  /** Which of `bindings` holds where none is asked for. */
  readonly binding: string | null;
  readonly bindings: ReadonlyMap<string, BindingConfig>;
  /** A module with tools of one's own. */
  readonly toolModule: string | null;
}

/** What an agent and each of its bindings can have. */
export interface BindingParts {
  /** Null for all skills. */
  readonly skills: readonly string[] | null;
  readonly peers: ReadonlyMap<string, string | null>;
  readonly language: string | null;
  readonly sender: string | null;
  readonly channel: string | null;
}

export interface BindingConfig extends BindingParts {
  readonly prompt: string | null;
}

export interface EnvironmentConfig {
  /** By category, then by name. */
  readonly capabilities: ReadonlyMap<string, ReadonlyMap<string, CapabilityStatus>>;
  readonly guide: string | null;
  readonly credentialCount: number;
  readonly brokenCredentials: readonly string[];
}

type Specs<Value> = { readonly [Key in keyof Value]: Spec<Value[Key]> };

const bindingParts: Specs<BindingParts> = {
  skills: optionalTexts("the only skills that it can see and load; default: all"),
  peers: named(
    "other agents and people, each with a line about them",
    text("what it is told of them"),
  ),
  language: text("the language to answer in"),
  sender: text("who writes, for messages that do not say it; sent with each turn"),
  channel: text("where people write, for messages that do not say it; sent with each turn"),
};

const binding: Spec<BindingConfig> = group("one binding", {
  prompt: prose("what the agent is told on this binding"),
  ...bindingParts,
});

const environment: Spec<EnvironmentConfig> = group("what the agent can do here, in a few lines", {
  capabilities: named(
    "capabilities by category",
    named(
      "the capabilities of a category",
      choice(statuses, "ready", "whether it works: ready, needs setup, or unavailable"),
    ),
  ),
  guide: text("how to get the whole guide of a capability"),
  credentialCount: whole({ usual: 0, min: 0 }, "how many credentials are configured"),
  brokenCredentials: texts([], "names of credentials that do not work"),
});

export const profile: Specs<ProfileConfig> = {
  hasRoleRules: written(
    "role_rules",
    flag(true, "whether the rules of its role are part of the prompt"),
  ),
  system: prose("its system prompt, before everything else"),
  systemFile: path("a file with its system prompt"),
  personaFile: path("a file with its persona, in place of the workspace's SOUL.md"),
  userIdentity: prose("who its user is"),
  permissions: optionalTexts(
    "permissions besides those of its toolset; all it has are then listed in the prompt",
  ),
  environment,
  documents: texts([], "more documents for the prompt, as paths from the workspace"),
  dailyNotes: text("notes of the day, as a path from the workspace with {date} in it", {
    allowed: "a path with {date} in it, as notes/{date}.md",
    isFit: (given) => given.includes("{date}"),
  }),
  binding: text("the binding that holds where none is asked for; default: none"),
  bindings: named("the places where people reach it, by name", binding),
  toolModule: written(
    "tools",
    path("a module outside the workspace that exports tools made with defineTool"),
  ),
  ...bindingParts,
};
