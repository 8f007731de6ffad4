// Generates documents from code; with --check, names the stale ones and fails.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { toOpenApi } from "../src/api/openapi/openapi.ts";
import { apiBase, routes } from "../src/api/routes/routes.ts";
import { commonOptions, type Command } from "../src/cli/command.ts";
import { commands } from "../src/cli/commands.ts";
import { refreshSettings } from "./config-document.ts";
import { spellOption, usageOf } from "../src/cli/help.ts";
import { renderClientTypes } from "./http-api/render-client.ts";
import { refreshHttpApi } from "./http-api/render-document.ts";
import { renderApiDocument } from "./api/render-api.ts";
import { exitStatusOf } from "../src/core/strata-error.ts";

const httpApiPath = "docs/http-api.md";
const settingsPath = "docs/configuration.md";
const documents: Readonly<Record<string, string>> = {
  "docs/api.md": renderApiDocument(),
  "docs/cli.md": renderCliDocument(),
  [httpApiPath]: refreshHttpApi(readFileSync(httpApiPath, "utf8")),
  "docs/openapi.json": `${JSON.stringify(toOpenApi(routes, apiBase), undefined, 1)}\n`,
  "src/api/client/answers.ts": renderClientTypes(),
  [settingsPath]: refreshSettings(readFileSync(settingsPath, "utf8")),
};

const stale = Object.entries(documents).filter(
  ([path, text]) => !existsSync(path) || readFileSync(path, "utf8") !== text,
);
if (process.argv.includes("--check")) {
  for (const [path] of stale) console.error(`${path} is stale; run npm run fix`);
  process.exitCode = stale.length > 0 ? 1 : 0;
} else {
  for (const [path, text] of stale) writeFileSync(path, text);
}

function renderCliDocument(): string {
  const statuses = Object.entries(exitStatusOf).map(([code, status]) => `| ${status} | ${code} |`);
  return [
    "<!-- Generated from src/cli/commands.ts by npm run fix. -->",
    "",
    "# The program `strata`",
    "",
    "From a clone, `npm run -s strata -- COMMAND` runs it from source.",
    "",
    ...commands.flatMap(renderCommand),
    "## Exit statuses",
    "",
    "| status | meaning |",
    "| ------ | ------- |",
    "| 0 | done |",
    "| 1 | a turn or a check failed, or a mistake of Strata's own |",
    "| 130 | stopped by a person |",
    ...statuses,
    "",
  ].join("\n");
}

function renderCommand(command: Command): string[] {
  const options = Object.entries({ ...command.options, ...commonOptions });
  return [
    `## \`strata ${usageOf(command)}\``,
    "",
    `${command.summary}.${command.alias === undefined ? "" : ` Also: \`strata ${command.alias}\`.`}`,
    "",
    ...(command.operands ?? []).map(({ name, meaning }) => `- \`${name}\`: ${meaning}`),
    ...options.map(([name, spec]) => `- \`${spellOption(name, spec)}\`: ${spec.meaning}`),
    "",
    "```sh",
    ...Object.entries(command.examples).flatMap(([line, shows]) => [`# ${shows}`, line]),
    "```",
    "",
  ];
}
