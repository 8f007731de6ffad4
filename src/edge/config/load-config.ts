// Reads a configuration once, for a command that ends.
import { homedir } from "node:os";
import { distinctProblems, hasErrors } from "../../core/config/config-problem.ts";
import { readConfig, type ConfigSources, type ReadConfig } from "../../core/config/read-config.ts";
import { StrataError } from "../../core/strata-error.ts";
import { readConfigFile, type ConfigFile } from "./read-config-file.ts";

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
  const readings = await Promise.all(
    options.files.map(async (file) => ({ file, reading: await readConfigFile(file) })),
  );
  const there = readings.flatMap(({ file, reading }) => {
    if (reading.kind === "read") return [{ file, reading }];
    if (!file.isNamed) return [];
    throw new StrataError("not-found", `there is no file ${file.path}`, "name one that is there");
  });
  const files = there.flatMap(({ reading }) => reading.tree ?? []);
  const read = readConfig({ homeFolder: homedir(), ...options, files });
  const own = there.flatMap(({ reading }) => reading.problems);
  const problems = distinctProblems([...own, ...read.problems]);
  return {
    config: hasErrors(problems) ? null : read.config,
    get settings() {
      return read.settings;
    },
    problems,
    filesThere: there.map(({ file }) => file.path),
  };
}
