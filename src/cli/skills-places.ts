// Which skills a command is about.
import { statSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { StrataError } from "../core/strata-error.ts";
import { createSkillStore, type SkillStore } from "../edge/stores/skills/skill-store.ts";
import type { CommandInput } from "./command.ts";

export async function readSkills({ values }: CommandInput): Promise<SkillStore> {
  const workspace = resolve(values.get("workspace") ?? ".");
  checkFolder(workspace);
  const given = values.get("global");
  if (given === "-") return createSkillStore({ workspace });
  const globalRoot = given === undefined ? join(homedir(), ".strata", "skills") : resolve(given);
  if (given !== undefined) checkFolder(globalRoot);
  return createSkillStore({ workspace, globalRoot });
}

/** A folder somebody named is meant to be there. */
export function checkFolder(path: string): void {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats?.isDirectory() === true) return;
  const what = stats === undefined ? "is not there" : "is no folder";
  throw new StrataError("not-found", `${path} ${what}`, "name a folder that is there");
}
