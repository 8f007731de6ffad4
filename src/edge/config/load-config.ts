// Reads a configuration once, for a command that ends.
import { homedir } from "node:os";
import { distinctProblems, hasErrors } from "../../core/config/config-problem.ts";
import { readConfig, type ConfigSources, type ReadConfig } from "../../core/config/read-config.ts";
import type { ConfigFile } from "./read-config-file.ts";
import { watchFile } from "./watch-file.ts";

export interface LoadConfigOptions extends Omit<ConfigSources, "files"> {
  /** The weakest first. */
  readonly files: readonly ConfigFile[];
}

export interface LoadedConfig extends ReadConfig {
  /** Paths of the existing files. */
  readonly filesThere: readonly string[];
}

/** Returns all problems; throws only if a named file is missing. */
export async function loadConfig(options: LoadConfigOptions): Promise<LoadedConfig> {
  const watched = await Promise.all(options.files.map((file) => watchFile(file)));
  const files = watched.flatMap((file) => file.trees());
  const read = readConfig({ homeFolder: homedir(), ...options, files });
  const own = watched.flatMap((file) => file.problems());
  const problems = distinctProblems([...own, ...read.problems]);
  const there = watched.flatMap((file) => file.files()).filter((file) => file.isThere());
  return {
    config: hasErrors(problems) ? null : read.config,
    get settings() {
      return read.settings;
    },
    problems,
    filesThere: there.map(({ file }) => file.path),
  };
}
