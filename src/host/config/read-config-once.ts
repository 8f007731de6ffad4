// Reads the configuration once, for a command that ends. A long-running program follows it instead.
import { homedir } from "node:os";
import { toConfigError } from "../../core/config/config-problem.ts";
import type { Environment } from "../../core/config/environment.ts";
import type { ReadConfig } from "../../core/config/read-config.ts";
import type { StrataConfig } from "../../core/config/schema.ts";
import { findConfigFiles, type ConfigPlace } from "../../edge/config/find-config-files.ts";
import { loadConfig, type LoadConfigOptions } from "../../edge/config/load-config.ts";

export interface WhereToRead {
  readonly env: Environment;
  /** The current folder by default. */
  readonly workspace?: string;
  /** From `--config`. */
  readonly configFile?: string | undefined;
}

/** The weakest first. Does not check whether the files exist. */
export function findConfigPlaces(where: WhereToRead): readonly ConfigPlace[] {
  const { env, workspace = process.cwd(), configFile } = where;
  return findConfigFiles({ given: configFile, env, workspace, homeFolder: homedir() });
}

export interface UsableConfig extends ReadConfig {
  readonly config: StrataConfig;
}

/** Throws one error that lists all errors of the configuration. */
export async function readConfigOnce(options: LoadConfigOptions): Promise<UsableConfig> {
  const loaded = await loadConfig(options);
  const { config, problems } = loaded;
  if (config === null) throw toConfigError(problems.filter(({ severity }) => severity === "error"));
  return {
    config,
    problems,
    // Listing settings takes a moment, and most callers do not ask.
    get settings() {
      return loaded.settings;
    },
  };
}
