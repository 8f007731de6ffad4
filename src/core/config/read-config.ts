// Files, variables and options → one configuration with origins, or all of their problems.
import { vendors } from "../wire/protocols.ts";
import { isNothing, nodeAt, nodeWith, type ConfigNode, type Origin } from "./config-node.ts";
import { checkWhole } from "./check-whole.ts";
import { distinctProblems, hasErrors, type ConfigProblem } from "./config-problem.ts";
import { fillKeys, readEnvironment, type Environment } from "./environment.ts";
import { mergeNodes } from "./merge-nodes.ts";
import { toNormalSpelling } from "./normal-spelling.ts";
import { schema, type StrataConfig } from "./schema.ts";
import { findElsewhere, listSettings, type Setting } from "./settings.ts";
import type { ReadContext } from "./spec.ts";
import { checkWorkspaceFile } from "./workspace-file.ts";

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
      settings ??= listSettings(root);
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
    ...vendors.flatMap(({ name, keyVariable, protocol }) => [
      [name, "kind", protocol.access.kind],
      [name, "api_key_env", keyVariable],
    ]),
    ["simulator", "kind", "simulator"],
  ].map(([name = "", key = "", value = ""]) =>
    nodeWith(["providers", name, key], { kind: "scalar", origin: { kind: "default" }, value }),
  ),
);

function toNode({ name, path, value }: ConfigOption): ConfigNode {
  return nodeWith(path, { kind: "scalar", origin: { kind: "option", name }, value });
}
