// Environment variables as settings: STRATA_ and a path, and a few that other programs share.
import { vendors } from "../wire/protocols.ts";
import { nearestNames } from "../nearest-names.ts";
import * as tree from "./config-node.ts";
import type { ConfigProblem } from "./config-problem.ts";
import { mergeNodes } from "./merge-nodes.ts";
import { schema } from "./schema.ts";
import { describeSettings } from "./settings.ts";
import type { Spec } from "./spec.ts";
import { telemetryIn } from "./telemetry-variables.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

export interface KnownVariable {
  readonly name: string;
  readonly path: readonly string[];
  /** Shared variables are weaker than files, our own are stronger. */
  readonly rank: "before files" | "after files";
  /** Whether an empty value counts as set. */
  readonly mayBeEmpty: boolean;
}

const promptCache = ["llm", "context_optimization", "prompt_cache"];

export const knownVariables: readonly KnownVariable[] = [
  ...vendors.map(({ name, urlVariable }) => shared(urlVariable, ["providers", name, "base_url"])),
  ...vendors.flatMap(({ name, listed }) =>
    [...(listed?.places ?? [])].flatMap(([place, variables]) =>
      // The last one that is set wins.
      variables.toReversed().map((each) => shared(each, ["providers", name, "places", place])),
    ),
  ),
  ours("STRATA_STORE", ["ledger", "store"], false),
  ours("ANTHROPIC_CACHE_BETA", [...promptCache, "beta_header"], true),
  ours("ANTHROPIC_CACHE_LONG_TTL_BETA", [...promptCache, "long_ttl_beta_header"], true),
];

export interface ReadEnvironment {
  /** Weaker than files. */
  readonly afterFiles: tree.ConfigNode;
  /** Stronger than files. */
  readonly beforeFiles: tree.ConfigNode;
  readonly problems: readonly ConfigProblem[];
}

/** `files` has the names that a variable may mean: variables have no dashes and no lower case. */
export function readEnvironment(env: Environment, files: tree.ConfigNode): ReadEnvironment {
  const problems: ConfigProblem[] = [];
  const beforeFiles: tree.ConfigNode[] = [];
  for (const [name, given] of Object.entries(env)) {
    if (!name.startsWith(prefix) || shortNames.has(name)) continue;
    if (given === undefined || given === "") continue;
    const path = name.slice(prefix.length).split("__");
    const origin: tree.Origin = { kind: "environment", name };
    const found = path.length < 2 ? { hint: guessName(name) } : findPath(path, files);
    if ("hint" in found) {
      problems.push({ severity: "error", origin, message: "is not a setting", hint: found.hint });
    } else {
      beforeFiles.push(tree.nodeWith(found.path, toNode(found.fromText(given), origin)));
    }
  }
  return {
    afterFiles: mergeNodes([...cloudsIn(env), ...telemetryIn(env), ...pick(env, "after files")]),
    // If two variables set the same setting, the one with its own name wins.
    beforeFiles: mergeNodes([...beforeFiles, ...pick(env, "before files")]),
    problems,
  };
}

/** Our variables that are not paths of settings. */
const shortNames: ReadonlySet<string> = new Set([
  "STRATA_CONFIG",
  "STRATA_DATA_DIR",
  "STRATA_GATEWAY_TOKEN",
  ...knownVariables.map(({ name }) => name),
]);

/** The likeliest mistake is one underscore instead of two. */
function guessName(name: string): string {
  const paths = describeSettings().filter(({ isInEnvironment }) => isInEnvironment);
  const short = [...shortNames].filter((each) => each.startsWith(prefix));
  const known = [...short, ...paths.map(({ path }) => variableOf(path))];
  const ends = known.map((each) => each.slice(prefix.length));
  const [near] = nearestNames(name.slice(prefix.length, 128), ends, 1);
  return near === undefined
    ? `known: ${short.join(", ")}, and paths`
    : `did you mean ${prefix}${near}?`;
}

/** Fills in provider keys from the variables that `api_key_env` names, unless `api_key` is set. */
export function fillKeys(root: tree.ConfigNode, env: Environment): tree.ConfigNode {
  const providers = tree.nodeAt(root, ["providers"]);
  const filled = (providers?.kind === "map" ? providers.entries : []).flatMap(({ key, node }) => {
    const own = tree.nodeAt(node, ["api_key"]);
    const name = tree.nodeAt(node, ["api_key_env"]);
    if (own?.kind === "scalar" && own.value !== null && own.value !== "") return [];
    if (name?.kind !== "scalar" || typeof name.value !== "string") return [];
    const value = (Object.hasOwn(env, name.value) ? env[name.value] : undefined)?.trim();
    if (value === undefined || value === "") return [];
    const origin: tree.Origin = { kind: "environment", name: name.value };
    const keyNode: tree.ConfigNode = { kind: "scalar", origin, value };
    return [{ key, origin, node: tree.nodeWith(["api_key"], keyNode) }];
  });
  const origin: tree.Origin = { kind: "default" };
  return mergeNodes([root, tree.nodeWith(["providers"], { kind: "map", origin, entries: filled })]);
}

/** STRATA_ and the path, its parts in upper case with two underscores between them. */
export function variableOf(path: string): string {
  return `${prefix}${path
    .split(".")
    .map((part) => part.toUpperCase().replace(/[^A-Z0-9]/g, "_"))
    .join("__")}`;
}

const prefix = "STRATA_";

function pick(env: Environment, rank: KnownVariable["rank"]): tree.ConfigNode[] {
  return knownVariables.flatMap((known) => {
    const { name, path, mayBeEmpty } = known;
    const value = env[name];
    if (known.rank !== rank || value === undefined || (value === "" && !mayBeEmpty)) return [];
    const origin: tree.Origin = { kind: "environment", name };
    return [tree.nodeWith(path, { kind: "scalar", origin, value })];
  });
}

/** The vendors for which this machine has the credentials of a cloud, by the variables of the cloud's own programs. */
function cloudsIn(env: Environment): tree.ConfigNode[] {
  return vendors.flatMap(({ name, listed }) => {
    const cloud = listed?.cloud ?? null;
    const variable = cloud?.variables.find((each) => (env[each] ?? "") !== "");
    if (cloud === null || variable === undefined) return [];
    const origin: tree.Origin = { kind: "environment", name: variable };
    const value: tree.ConfigNode = { kind: "scalar", origin, value: cloud.name };
    return [tree.nodeWith(["providers", name, "credentials"], value)];
  });
}

type FoundPath =
  | {
      readonly path: readonly string[];
      readonly fromText: (text: string) => tree.ScalarValue | readonly string[];
    }
  | { readonly hint: string };

/** Part by part down the schema. */
function findPath(parts: readonly string[], files: tree.ConfigNode): FoundPath {
  const path: string[] = [];
  let spec: Spec<unknown> = schema;
  for (const part of parts) {
    const { shape } = spec;
    if (shape.kind === "section") {
      const known = [...shape.keys.keys()];
      const key = known.find((each) => sameName(each, part));
      if (key === undefined) return { hint: guess(path, part, known) };
      path.push(key);
      spec = shape.keys.get(key) ?? spec;
    } else if (shape.kind === "named") {
      path.push(nameIn(tree.nodeAt(files, path), part));
      spec = shape.of;
    } else return { hint: `${variableOf(path.join("."))} is as far as it goes` };
  }
  const { shape } = spec;
  if (shape.kind === "leaf" && shape.fromText !== undefined) {
    return { path, fromText: shape.fromText };
  }
  return shape.kind === "section"
    ? { hint: `name one of ${[...shape.keys.keys()].join(", ")} after it` }
    : { hint: `${path.join(".")} can only be set in a file` };
}

function guess(path: readonly string[], part: string, known: readonly string[]): string {
  const [near] = nearestNames(part.slice(0, 64), known, 1);
  return near === undefined
    ? `known here: ${known.join(", ")}`
    : `did you mean ${variableOf([...path, near].join("."))}?`;
}

function nameIn(named: tree.ConfigNode | undefined, part: string): string {
  const names = named?.kind === "map" ? named.entries.map(({ key }) => key) : [];
  if (tree.entryOf(named, part) !== undefined) return part;
  return names.find((each) => sameName(each, part)) ?? part.toLowerCase();
}

function sameName(name: string, part: string): boolean {
  return name.toUpperCase().replace(/[^A-Z0-9]/g, "_") === part.toUpperCase();
}

function toNode(value: tree.ScalarValue | readonly string[], origin: tree.Origin): tree.ConfigNode {
  if (typeof value !== "object" || value === null) return { kind: "scalar", origin, value };
  const items = value.map((each): tree.ConfigNode => ({ kind: "scalar", origin, value: each }));
  return { kind: "list", origin, items };
}

function shared(name: string, path: readonly string[]): KnownVariable {
  return { name, path, rank: "after files", mayBeEmpty: false };
}

function ours(name: string, path: readonly string[], mayBeEmpty: boolean): KnownVariable {
  return { name, path, rank: "before files", mayBeEmpty };
}
