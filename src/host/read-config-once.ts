// The configuration read once, for a command that looks at it and ends. A program that runs on follows it instead.
import { homedir } from "node:os";
import { toConfigError } from "../core/config/config-problem.ts";
import type { Environment } from "../core/config/environment.ts";
import type { ReadConfig } from "../core/config/read-config.ts";
import type { StrataConfig } from "../core/config/schema.ts";
import { findConfigFiles, type ConfigPlace } from "../edge/config/find-config-files.ts";
import { loadConfig, type LoadConfigOptions } from "../edge/config/load-config.ts";

export interface WhereToRead {
  readonly env: Environment;
  /** The current folder by default. */
  readonly workspace?: string;
  /** From `--config`. */
  readonly configFile?: string | undefined;
}

/** The weakest first. Whether the files are there is not checked. */
export function findConfigPlaces(where: WhereToRead): readonly ConfigPlace[] {
  const { env, workspace = process.cwd(), configFile } = where;
  return findConfigFiles({ given: configFile, env, workspace, homeFolder: homedir() });
}

export interface UsableConfig extends ReadConfig {
  readonly config: StrataConfig;
}

/** A configuration with errors is an error that lists them. */
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
