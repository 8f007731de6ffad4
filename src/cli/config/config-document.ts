// Generates the list of settings in docs/configuration.md from the schema.
import { describeSettings, type DescribedSetting } from "../../core/config/settings.ts";
import { knownVariables, variableOf } from "../../core/config/environment.ts";

const begin = "<!-- settings: generated from src/core/config by npm run fix -->";
const end = "<!-- end of settings -->";

/** The document with an up-to-date list of settings. */
export function refreshSettings(document: string): string {
  const [before, rest] = cut(document, begin);
  const [, after] = cut(rest, end);
  return `${before}${begin}\n\n${renderSettings()}\n${end}${after}`;
}

function cut(text: string, mark: string): readonly [string, string] {
  const index = text.indexOf(mark);
  if (index === -1) throw new Error(`docs/configuration.md has no line ${mark}`);
  return [text.slice(0, index), text.slice(index + mark.length)];
}

function renderSettings(): string {
  const groups = Map.groupBy(describeSettings(), ({ path }) => groupOf(path));
  const lines = [...groups].flatMap(([group, settings]) => [
    `### ${group}`,
    "",
    ...settings.map(renderSetting),
    "",
  ]);
  return [...lines, "### Variables with names of their own", "", ...variables(), ""].join("\n");
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
    const when = rank === "before files" ? "wins over files" : "where no file says it";
    return `- \`${name}\`: \`${path.join(".")}\`, ${when}; also \`${variableOf(path.join("."))}\``;
  });
}
