// Finds the configuration files of a command from --workspace and --config.
import { resolve } from "node:path";
import type { ConfigPlace } from "../../edge/config/find-config-files.ts";
import { findConfigPlaces } from "../../host/config/read-config-once.ts";
import type { CommandInput, Io } from "../command.ts";
import { checkFolder } from "../check-folder.ts";

/** Weakest first. */
export function readConfigPlaces(
  { values }: CommandInput,
  { env }: Pick<Io, "env">,
): readonly ConfigPlace[] {
  const workspace = resolve(values.get("workspace") ?? ".");
  checkFolder(workspace);
  return findConfigPlaces({ env, workspace, configFile: values.get("config") });
}
