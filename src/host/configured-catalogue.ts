// Model facts and prices as the configuration has them, so that savings are priced as costs were.
import { toCatalogueChanges } from "../core/config/check-whole.ts";
import { describeProblem } from "../core/config/config-problem.ts";
import type { Environment } from "../core/config/environment.ts";
import type { StrataConfig } from "../core/config/schema.ts";
import { builtInCatalogue, createCatalogue, type Catalogue } from "../core/models/catalogue.ts";
import { loadConfig } from "../edge/config/load-config.ts";
import { findConfigPlaces } from "./read-config-once.ts";

export interface ConfiguredPrices {
  readonly env: Environment;
  /** Called with a text when a workspace file is broken and ignored. */
  readonly onProblem: (problem: string) => void;
}

export async function readConfiguredCatalogue(from: ConfiguredPrices): Promise<Catalogue> {
  const config = await readUsableConfig(from);
  const changes = config === null ? null : toCatalogueChanges(config);
  return changes === null ? builtInCatalogue : createCatalogue(changes);
}

async function readUsableConfig({
  env,
  onProblem,
}: ConfiguredPrices): Promise<StrataConfig | null> {
  const files = findConfigPlaces({ env });
  const all = await loadConfig({ files, env });
  if (all.config !== null) return all.config;
  const [problem] = all.problems.filter(({ severity }) => severity === "error");
  const said = problem === undefined ? "" : `: ${describeProblem(problem)}`;
  onProblem(`prices that are configured here are not used${said}`);
  return (await loadConfig({ files: files.filter(({ isFound }) => !isFound), env })).config;
}
