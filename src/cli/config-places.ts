// Which configuration a command is about.
import { homedir } from "node:os";
import { resolve } from "node:path";
import { findConfigFiles, type ConfigPlace } from "../edge/config/find-config-files.ts";
import type { CommandInput, Io } from "./command.ts";
import { checkFolder } from "./check-folder.ts";

/** The weakest first. */
export function readConfigPlaces(
  input: CommandInput,
  { env }: Pick<Io, "env">,
): readonly ConfigPlace[] {
  const workspace = resolve(input.values.get("workspace") ?? ".");
  checkFolder(workspace);
  return findConfigFiles({
    given: input.values.get("config"),
    env,
    workspace,
    homeFolder: homedir(),
  });
}
