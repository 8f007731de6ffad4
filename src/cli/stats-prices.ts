// What tokens cost, as the configuration has it: savings are reckoned with the same prices as costs.
import { homedir } from "node:os";
import { toCatalogueChanges } from "../core/config/check-whole.ts";
import { describeProblem } from "../core/config/config-problem.ts";
import type { StrataConfig } from "../core/config/schema.ts";
import { builtInCatalogue, createCatalogue, type Catalogue } from "../core/models/catalogue.ts";
import { findConfigFiles } from "../edge/config/find-config-files.ts";
import { loadConfig } from "../edge/config/load-config.ts";
import type { CommandInput, Io } from "./command.ts";
import { readCatalogue } from "./read-catalogue.ts";
import { toPrintable } from "./render-ledger.ts";

/** Of `--models`, else of the configuration; a broken file of the workspace is told and left out. */
export async function readPrices(input: CommandInput, io: Io): Promise<Catalogue> {
  const given = input.values.get("models");
  if (given !== undefined) return readCatalogue(given);
  const config = await readWhatCan(io);
  const changes = config === null ? null : toCatalogueChanges(config);
  return changes === null ? builtInCatalogue : createCatalogue(changes);
}

async function readWhatCan({ env, error }: Io): Promise<StrataConfig | null> {
  const files = findConfigFiles({ env, workspace: process.cwd(), homeFolder: homedir() });
  const all = await loadConfig({ files, env });
  if (all.config !== null) return all.config;
  const [problem] = all.problems.filter(({ severity }) => severity === "error");
  const said = problem === undefined ? "" : `: ${toPrintable(describeProblem(problem))}`;
  error(`strata: warning: prices that are configured here are not used${said}\n`);
  return (await loadConfig({ files: files.filter(({ isFound }) => !isFound), env })).config;
}
