// Which skills a command is about.
import { resolve } from "node:path";
import { createSkillStore, type SkillStore } from "../../edge/files/skills/skill-store.ts";
import { checkFolder } from "../check-folder.ts";
import type { CommandInput, Io } from "../command.ts";
import { readConfigPlaces } from "../config/config-places.ts";
import { readWorldSettings } from "../../host/config/world-settings.ts";

export async function readSkills(input: CommandInput, io: Pick<Io, "env">): Promise<SkillStore> {
  const { values } = input;
  const workspace = resolve(values.get("workspace") ?? ".");
  checkFolder(workspace);
  const given = values.get("global");
  if (given === "-") return createSkillStore({ workspace });
  if (given !== undefined) {
    checkFolder(resolve(given));
    return createSkillStore({ workspace, globalRoot: resolve(given) });
  }
  const { skills: { globalRoot } = {} } = await readWorldSettings(
    readConfigPlaces(input, io),
    io.env,
  );
  return createSkillStore({ workspace, ...(globalRoot === undefined ? {} : { globalRoot }) });
}
