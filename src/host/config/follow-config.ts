// The current configuration. Its files are checked again before every call.
import { homedir } from "node:os";
import type { Environment } from "../../core/config/environment.ts";
import type { ConfigOption } from "../../core/config/read-config.ts";
import type { StrataConfig } from "../../core/config/schema.ts";
import { findConfigFiles, findTrustStore } from "../../edge/config/find-config-files.ts";
import { openConfig } from "../../edge/config/open-config.ts";

export interface FollowedConfig {
  /** Absolute paths that are read, or would be if they existed; also the file of trusted contents. */
  readonly files: readonly string[];
  /** The configuration at the last check. */
  now(): StrataConfig;
  /** Checks the files again. Never fails: a broken file leaves the settings unchanged. */
  current(): Promise<StrataConfig>;
}

export interface WhereConfigured {
  readonly workspace: string;
  /** From `--config`. */
  readonly configFile?: string | undefined;
  readonly env: Environment;
  readonly homeFolder?: string | undefined;
  /** The content of `configFile` that the caller trusts, by its hash. */
  readonly trust?: string | undefined;
  /** Command-line options; they override files and variables. */
  readonly typed?: readonly ConfigOption[] | undefined;
  readonly onNotice: (notice: string) => void;
}

export async function followConfig(where: WhereConfigured): Promise<FollowedConfig> {
  const { workspace, configFile, env, onNotice, typed = [], homeFolder = homedir() } = where;
  const { trust } = where;
  const files = findConfigFiles({ given: configFile, env, workspace, homeFolder, trust });
  const live = await openConfig({
    files,
    env,
    options: typed,
    homeFolder,
    onProblem: ({ message, hint }) => onNotice(`${message}\n  ${hint}`),
  });
  let now = await live.current();
  return {
    get files() {
      return [...live.files(), findTrustStore({ env, homeFolder })];
    },
    now: () => now,
    current: async () => {
      now = await live.current();
      return now;
    },
  };
}
