// What is configured about memory and skills of a workspace, for commands that look at them without an agent.
import { homedir } from "node:os";
import { toConfigError } from "../core/config/config-problem.ts";
import type { Environment } from "../core/config/environment.ts";
import { loadConfig } from "../edge/config/load-config.ts";
import type { ConfigFile } from "../edge/config/read-config-file.ts";
import { toWorldSettings } from "../engine/from-config.ts";
import type { WorldSettings } from "../engine/workspace-settings.ts";
import { usualSkillsRoot } from "./open-engine-parts.ts";

/** As an agent without settings of its own has it. A configuration that cannot be read is an error. */
export async function readWorldSettings(
  files: readonly ConfigFile[],
  env: Environment,
): Promise<WorldSettings> {
  const { config, problems } = await loadConfig({ files, env, homeFolder: homedir() });
  if (config === null) throw toConfigError(problems.filter(({ severity }) => severity === "error"));
  return toWorldSettings(config, "agent", { skillsRoot: usualSkillsRoot() });
}
