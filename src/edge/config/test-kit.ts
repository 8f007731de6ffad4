// For tests: YAML in, a configuration or its problems out.
import type { ConfigNode } from "../../core/config/config-node.ts";
import { describeProblem } from "../../core/config/config-problem.ts";
import { readConfig, type ConfigSources, type ReadConfig } from "../../core/config/read-config.ts";
import type { StrataConfig } from "../../core/config/schema.ts";
import { StrataError } from "../../core/strata-error.ts";
import { parseYaml } from "./parse-yaml.ts";

export function treeOf(yaml: string, file = "/srv/ana/strata.yaml", isFound = false): ConfigNode {
  const { root, problems } = parseYaml(yaml, { file, isFound });
  const [problem] = problems;
  if (problem !== undefined || root === null) throw new Error(problem?.message ?? "no tree");
  return root;
}

export function read(yaml: string, more: Omit<ConfigSources, "files"> = {}): ReadConfig {
  return readConfig({ ...more, files: [treeOf(yaml)] });
}

/** The configuration of a text without mistakes. */
export function configOf(yaml: string, more: Omit<ConfigSources, "files"> = {}): StrataConfig {
  const { config, problems } = read(yaml, more);
  if (config !== null) return config;
  throw new StrataError("config-invalid", problems.map(describeProblem).join("\n"), "");
}

/** The problems as people see them, without the file's name. */
export function problemsOf(yaml: string, more: Omit<ConfigSources, "files"> = {}): string[] {
  return read(yaml, more).problems.map((problem) =>
    describeProblem(problem).replace("/srv/ana/strata.yaml:", ""),
  );
}
