// An agent's default model, and whether the simulator answers for a model.
import { modelOf, resolveAgent } from "../../core/config/resolve-agent.ts";
import type { StrataConfig } from "../../core/config/schema.ts";
import type { ProviderConfig } from "../../core/config/schema/providers.ts";
import { resolveModel } from "../../core/models/resolve-model.ts";
import { StrataError } from "../../core/strata-error.ts";
import { vendors } from "../../core/wire/protocols.ts";
import { chooseProvider, isUsable } from "../../edge/providers/reach-choice.ts";
import { createLiveCatalogue } from "./catalogue.ts";

/** The configured model, else the default model of a configured provider. */
export function usualModel(config: StrataConfig, agent: string): string {
  return resolveAgent(config, agent).model ?? usualModelOf(config.providers);
}

function usualModelOf(providers: ReadonlyMap<string, ProviderConfig>): string {
  const usable = [...providers].flatMap(([name, settings]) => (isUsable(settings) ? [name] : []));
  const [named] = usualModels.filter(([name]) => usable.includes(name));
  if (named !== undefined) return named[1];
  if (usable.length === 0) return simulatedModel;
  throw new StrataError(
    "config-invalid",
    `no model is chosen, and ${usable.join(", ")} has no default model`,
    "name one as models.default in your strata.yaml, or with --model",
  );
}

const usualModels: readonly (readonly [string, string])[] = [
  ["anthropic", "claude-sonnet-5-5"],
  ["openai", "gpt-6.1-sol"],
  ["google", "gemini-3.8-flash"],
  ...vendors.flatMap(({ name, listed }): readonly (readonly [string, string])[] => {
    const model = listed?.usualModel ?? null;
    return model === null ? [] : [[name, model]];
  }),
];
const simulatedModel = "claude-sonnet-5-5";

/** Whether the simulator answers for a model of this name or alias. */
export function isSimulatedModel(config: StrataConfig, name: string): boolean {
  const catalogue = createLiveCatalogue(() => config);
  const { facts } = resolveModel(modelOf(config, name), catalogue);
  const isOwnRoute = catalogue.routesOf(facts.id)[0] === facts.route;
  return chooseProvider({ ...facts, isOwnRoute }, config.providers).kind === "simulated";
}
