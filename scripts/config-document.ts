// Generates the lists of settings in docs/configuration.md from the schema.
import { describeSettings, type DescribedSetting } from "../src/core/config/settings.ts";
import { workspaceKeys } from "../src/core/config/workspace-file.ts";
import { replacePart } from "./replace-part.ts";
import { knownVariables, variableOf } from "../src/core/config/environment.ts";

/** The document with up-to-date lists of all settings and of those that a found file may set. */
export function refreshSettings(document: string): string {
  const keys = workspaceKeys.map((key) => `- \`${key}\`\n`).join("");
  const from = { page: "docs/configuration.md", source: "src/core/config" };
  const withKeys = replacePart(document, { ...from, part: "workspace keys", text: keys });
  return replacePart(withKeys, { ...from, part: "settings", text: renderSettings() });
}

function renderSettings(): string {
  const groups = Map.groupBy(describeSettings(), ({ path }) => groupOf(path));
  const lines = [...groups].flatMap(([group, settings]) => [
    `### ${group}`,
    "",
    ...settings.map(renderSetting),
    "",
  ]);
  return [...lines, "### Variables with their own names", "", ...variables(), ""].join("\n");
}

function groupOf(path: string): string {
  const [first = "", second = "", third = ""] = path.split(".");
  return first === "llm" ? `\`${first}.${second}.${third}\`` : `\`${first}\``;
}

function renderSetting({
  path,
  meaning,
  allowed,
  usual,
  isInEnvironment,
}: DescribedSetting): string {
  const otherwise = usual === null ? "" : `; \`${JSON.stringify(usual)}\` by default`;
  const only = isInEnvironment ? "" : "; in a file only";
  return `- \`${path}\`: ${meaning} (${allowed}${otherwise}${only})`;
}

function variables(): readonly string[] {
  return knownVariables.map(({ name, path, rank }) => {
    const when = rank === "before files" ? "wins over files" : "where no file sets it";
    return `- \`${name}\`: \`${path.join(".")}\`, ${when}; also \`${variableOf(path.join("."))}\``;
  });
}
