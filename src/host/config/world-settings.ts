// The configured settings for documents, memory, skills and tools of a workspace.
import { homedir } from "node:os";
import { join } from "node:path";
import type { Environment } from "../../core/config/environment.ts";
import type { ConfigFile } from "../../edge/config/read-config-file.ts";
import { toWorldSettings } from "./from-config.ts";
import type { WorldSettings } from "../../engine/world/world-settings.ts";
import { perSource } from "../../engine/world/per-source.ts";
import type { FollowedConfig } from "./follow-config.ts";
import { readConfigOnce } from "./read-config-once.ts";

export interface WhoseSettings {
  readonly agent: string;
  readonly binding: string | undefined;
  readonly isSimulated: boolean;
  readonly homeFolder: string | undefined;
}

/** The current settings. A simulated agent never runs commands. */
export function followWorldSettings(
  config: FollowedConfig,
  { agent, binding, isSimulated, homeFolder }: WhoseSettings,
): () => WorldSettings {
  const skillsRoot = usualSkillsRoot(homeFolder);
  return perSource(
    () => config.now(),
    (from) => {
      const settings = toWorldSettings(from, agent, { skillsRoot, binding });
      const tools = { ...settings.tools, ...(isSimulated ? { allowBash: false } : {}) };
      return { ...settings, tools };
    },
  );
}

/** Reads the settings once, for an agent without its own. Throws if the configuration cannot be read. */
export async function readWorldSettings(
  files: readonly ConfigFile[],
  env: Environment,
): Promise<WorldSettings> {
  const { config } = await readConfigOnce({ files, env });
  return toWorldSettings(config, "agent", { skillsRoot: usualSkillsRoot() });
}

/** The default folder of skills for every workspace. */
function usualSkillsRoot(homeFolder: string = homedir()): string {
  return join(homeFolder, ".strata", "skills");
}
