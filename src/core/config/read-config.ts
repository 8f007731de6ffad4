// Files, variables and options → one configuration with origins, or all of their problems.
import { vendors } from "../wire/protocols.ts";
import * as tree from "./config-node.ts";
import { isNothing, nodeAt, nodeWith, type ConfigNode, type Origin } from "./config-node.ts";
import { checkWhole } from "./check-whole.ts";
import { distinctProblems, hasErrors, type ConfigProblem } from "./config-problem.ts";
import { fillKeys, readEnvironment, type Environment } from "./environment.ts";
import { mergeNodes } from "./merge-nodes.ts";
import { schema, type StrataConfig } from "./schema.ts";
import { findElsewhere, listSettings, type Setting } from "./settings.ts";
import type { ReadContext } from "./spec.ts";
import { checkWorkspaceFile } from "./workspace-file.ts";
import { maskText } from "./mask-secrets.ts";

export interface ConfigSources {
  /** The contents of files, the weakest first. */
  readonly files: readonly ConfigNode[];
  readonly env?: Environment;
  /** Typed by the user; stronger than everything else. */
  readonly options?: readonly ConfigOption[];
  /** What `~` stands for in paths. */
  readonly homeFolder?: string;
}

export interface ConfigOption {
  /** As `--model`. */
  readonly name: string;
  readonly path: readonly string[];
  readonly value: string | number | boolean;
}

export interface ReadConfig {
  /** Null if a problem is an error. */
  readonly config: StrataConfig | null;
  readonly settings: readonly Setting[];
  readonly problems: readonly ConfigProblem[];
}

/** Default < variables that other programs share < files < our variables < options; key by key. */
export function readConfig(sources: ConfigSources): ReadConfig {
  const { files, homeFolder = null } = sources;
  // An error in a file counts even if another file overrides it.
  const problems = files.flatMap((file) => checkFile(file, homeFolder));
  const report = (problem: ConfigProblem): void => void problems.push(problem);
  const spelled = files.map((file) => toNormalSpelling(file).node);
  const context: ReadContext = { path: "", report, findElsewhere, homeFolder, isWhole: true };
  const root = mergeAll(sources, spelled, report);
  const config = schema.read(root, context);
  const ownFiles = spelled.filter(({ origin }) => origin.kind !== "file" || !origin.isFound);
  const ownRoot = ownFiles.length === files.length ? null : mergeAll(sources, ownFiles, () => {});
  const own = ownRoot === null ? null : schema.read(ownRoot, { ...context, report: () => {} });
  const originAt = (path: readonly string[]): Origin => {
    const node = nodeAt(root, path);
    return isNothing(node) ? { kind: "default" } : node.origin;
  };
  checkWhole(config, originAt, own).forEach(report);
  const distinct = distinctProblems(problems);
  let settings: readonly Setting[] | null = null;
  return {
    config: hasErrors(distinct) ? null : config,
    // Masking every value takes time, and few callers need it.
    get settings() {
      settings ??= listSettings(withoutUnusedVendors(root));
      return settings;
    },
    problems: distinct,
  };
}

function mergeAll(
  { env = {}, options = [] }: ConfigSources,
  files: readonly ConfigNode[],
  report: (problem: ConfigProblem) => void,
): ConfigNode {
  const known = mergeNodes([builtInProviders, ...files]);
  const { afterFiles, beforeFiles, problems } = readEnvironment(env, known);
  problems.forEach(report);
  const typed = options.map(toNode);
  return fillKeys(mergeNodes([builtInProviders, afterFiles, ...files, beforeFiles, ...typed]), env);
}

/** The problems of one file by itself. */
export function checkFile(root: ConfigNode, homeFolder: string | null = null): ConfigProblem[] {
  const { node, problems } = toNormalSpelling(root);
  const found = [...problems, ...checkWorkspaceFile(node)];
  const report = (problem: ConfigProblem): void => void found.push(problem);
  schema.read(node, { path: "", report, findElsewhere, homeFolder, isWhole: false });
  return found;
}

const builtInProviders: ConfigNode = mergeNodes(
  [
    ...vendors.flatMap(({ name, keyVariable, kind }) => [
      [name, "kind", kind],
      [name, "api_key_env", keyVariable],
    ]),
    ["simulator", "kind", "simulator"],
  ].map(([name = "", key = "", value = ""]) =>
    nodeWith(["providers", name, key], { kind: "scalar", origin: { kind: "default" }, value }),
  ),
);

/** Vendors about which nothing is written are left out of the list: each would add a page of defaults. */
function withoutUnusedVendors(root: ConfigNode): ConfigNode {
  if (root.kind !== "map") return root;
  const entries = root.entries.map((entry) =>
    entry.key === "providers" && entry.node.kind === "map"
      ? { ...entry, node: { ...entry.node, entries: entry.node.entries.filter(isUsed) } }
      : entry,
  );
  return { ...root, entries };
}

function isUsed({ key, node }: tree.ConfigEntry): boolean {
  const isListed = vendors.some(({ name, listed }) => listed !== null && name === key);
  if (!isListed || node.kind !== "map") return true;
  // Other programs need a region, too.
  return node.entries.some((each) => each.key !== "places" && each.node.origin.kind !== "default");
}

function toNode({ name, path, value }: ConfigOption): ConfigNode {
  return nodeWith(path, { kind: "scalar", origin: { kind: "option", name }, value });
}

interface Spelled {
  readonly node: tree.ConfigNode;
  readonly problems: readonly ConfigProblem[];
}

/** For one file, before it is merged with others. The schema reports all other problems. */
export function toNormalSpelling(node: tree.ConfigNode): Spelled {
  if (node.kind !== "map") return { node, problems: [] };
  const moved = moveBelowLlm(node);
  const listed = nameAgents(moved.map);
  return { node: listed.map, problems: [...moved.problems, ...listed.problems] };
}

interface Changed {
  readonly map: tree.ConfigMap;
  readonly problems: readonly ConfigProblem[];
}

function moveBelowLlm(map: tree.ConfigMap): Changed {
  const entry = tree.entryOf(map, name);
  if (entry === undefined) return { map, problems: [] };
  const llm = tree.entryOf(map, "llm");
  const both = tree.entryOf(llm?.node, name);
  if (both !== undefined) {
    const hint = "keep one of the two";
    const message = `${name} is written both by itself and below llm`;
    return { map: without(map, name), problems: [error(both.origin, message, hint)] };
  }
  // The schema reports an llm that is not a group.
  const before = tree.isNothing(llm?.node) ? tree.emptyAt(entry.origin) : llm.node;
  if (before.kind !== "map") return { map: without(map, name), problems: [] };
  const node: tree.ConfigMap = { ...before, entries: [...before.entries, entry] };
  const moved: tree.ConfigEntry = { key: "llm", origin: llm?.origin ?? entry.origin, node };
  const rest = without(without(map, name), "llm");
  return { map: { ...rest, entries: [...rest.entries, moved] }, problems: [] };
}

const name = "context_optimization";

function nameAgents(map: tree.ConfigMap): Changed {
  const agents = tree.entryOf(map, "agents");
  if (agents?.node.kind !== "list") return { map, problems: [] };
  const problems: ConfigProblem[] = [];
  const entries = new Map<string, tree.ConfigEntry>();
  for (const item of agents.node.items) {
    const entry = toNamed(item);
    const twice = typeof entry !== "string" && entries.has(entry.key);
    if (typeof entry === "string") {
      problems.push(error(item.origin, entry, "begin the item with - id: NAME"));
    } else if (twice) {
      const message = `the agent ${JSON.stringify(maskText(entry.key))} is written twice`;
      problems.push(error(item.origin, message, "write its settings together"));
    } else entries.set(entry.key, entry);
  }
  const node: tree.ConfigMap = {
    kind: "map",
    origin: agents.node.origin,
    entries: [...entries.values()],
  };
  const changed = map.entries.map((entry) => (entry === agents ? { ...entry, node } : entry));
  return { map: { ...map, entries: changed }, problems };
}

/** The item under its id; a text if something is wrong with it. */
function toNamed(item: tree.ConfigNode): tree.ConfigEntry | string {
  if (item.kind !== "map") return "an item of agents is not a group of settings";
  const id = tree.entryOf(item, "id");
  if (id === undefined) return "an item of agents has no id";
  const key = id.node.kind === "scalar" ? id.node.value : null;
  if (typeof key !== "string" || key === "") return "the id of an agent must be text";
  return { key, origin: id.origin, node: without(item, "id") };
}

function without(map: tree.ConfigMap, key: string): tree.ConfigMap {
  return { ...map, entries: map.entries.filter((entry) => entry.key !== key) };
}

function error(origin: tree.Origin, message: string, hint: string): ConfigProblem {
  return { severity: "error", origin, message, hint };
}
