// Files, variables and options → one configuration with origins, or everything that is wrong with them.
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

export interface ConfigSources {
  /** What files say, the weakest first. */
  readonly files: readonly ConfigNode[];
  readonly env?: Environment;
  /** What was typed; stronger than everything else. */
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
  /** Null where there is an error among the problems. */
  readonly config: StrataConfig | null;
  readonly settings: readonly Setting[];
  readonly problems: readonly ConfigProblem[];
}

/** Default < variables that others share < files < our variables < options; key by key. */
export function readConfig(sources: ConfigSources): ReadConfig {
  const { files, env = {}, options = [], homeFolder = null } = sources;
  const problems: ConfigProblem[] = [];
  const report = (problem: ConfigProblem): void => void problems.push(problem);
  // A mistake counts also where another file hides it.
  for (const file of files) checkFile(file, homeFolder).forEach(report);
  const spelled = files.map((file) => toNormalSpelling(file).node);
  const written = mergeNodes([builtInProviders, ...spelled]);
  const { afterFiles, beforeFiles, problems: misnamed } = readEnvironment(env, written);
  for (const problem of misnamed) report(problem);
  const typed = options.map(toNode);
  const layers = [builtInProviders, afterFiles, ...spelled, beforeFiles, ...typed];
  const root = fillKeys(mergeNodes(layers), env);
  const config = readWhole(root, { path: "", report, findElsewhere, homeFolder, isWhole: true });
  const distinct = distinctProblems(problems);
  let settings: readonly Setting[] | null = null;
  return {
    config: hasErrors(distinct) ? null : config,
    // Masked one by one, which most callers have no use for.
    get settings() {
      settings ??= listSettings(root);
      return settings;
    },
    problems: distinct,
  };
}

/** What is wrong with one file, whatever others say. */
export function checkFile(
  root: ConfigNode,
  homeFolder: string | null = null,
): readonly ConfigProblem[] {
  const { node, problems } = toNormalSpelling(root);
  const found = [...problems];
  const report = (problem: ConfigProblem): void => void found.push(problem);
  schema.read(node, { path: "", report, findElsewhere, homeFolder, isWhole: false });
  return found;
}

function readWhole(root: ConfigNode, context: ReadContext): StrataConfig {
  const config = schema.read(root, context);
  const originAt = (path: readonly string[]): Origin => {
    const node = nodeAt(root, path);
    return isNothing(node) ? { kind: "default" } : node.origin;
  };
  for (const problem of checkWhole(config, originAt)) context.report(problem);
  return config;
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
