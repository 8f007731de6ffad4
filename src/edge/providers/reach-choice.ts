// Which of the configured providers answers for a model: the one that has the name of its route, else of its provider.
import type { ProviderConfig } from "../../core/config/schema/providers.ts";
import type { ModelFacts } from "../../core/models/model-facts.ts";
import { StrataError } from "../../core/strata-error.ts";
import { findVendor } from "../../core/wire/protocols.ts";

export type ProviderChoice =
  | { readonly kind: "configured"; readonly name: string; readonly settings: ProviderConfig }
  /** `why`: in words, such as "no provider has a key". */
  | { readonly kind: "simulated"; readonly why: string };

export interface ModelToReach extends Pick<ModelFacts, "id" | "provider" | "route"> {
  /** Whether the route is the provider's own API. */
  readonly isOwnRoute: boolean;
}

export const noKey = "no provider has a key";

/**
 * The simulator answers where it is asked for by name, and where nothing at all is configured. A model whose provider
 * is missing while others are there is an error: nobody wants made-up answers by mistake.
 */
export function chooseProvider(
  model: ModelToReach,
  providers: ReadonlyMap<string, ProviderConfig>,
): ProviderChoice {
  const names = model.isOwnRoute ? [model.route, model.provider] : [model.route];
  for (const name of names) {
    const settings = providers.get(name);
    if (settings === undefined) continue;
    if (settings.kind === "simulator") {
      return { kind: "simulated", why: `providers.${name} is of the kind simulator` };
    }
    if (isUsable(settings)) return { kind: "configured", name, settings };
  }
  if (![...providers.values()].some(isUsable)) {
    return { kind: "simulated", why: noKey };
  }
  throw unreachable(model, names.at(-1) ?? model.provider, providers);
}

/** Keys are not needed behind an address of one's own: a gateway may have them, and a local server wants none. */
export function isUsable({ kind, apiKey, baseUrl, headers }: ProviderConfig): boolean {
  return kind !== "simulator" && (apiKey !== null || baseUrl !== null || headers.size > 0);
}

function unreachable(
  { id }: ModelToReach,
  name: string,
  providers: ReadonlyMap<string, ProviderConfig>,
): StrataError {
  const others = [...providers].flatMap(([each, settings]) => (isUsable(settings) ? [each] : []));
  const missing = providers.has(name) ? "has no key" : "is not configured";
  return new StrataError(
    "environment-unfit",
    `${id} cannot be reached: the provider ${name} ${missing}`,
    `${keyAdvice(name)}, or choose a model of ${others.join(" or ")}`,
  );
}

function keyAdvice(name: string): string {
  const variable = findVendor(name)?.keyVariable;
  return variable === undefined
    ? `describe it under providers.${name} in your strata.yaml`
    : `set ${variable}`;
}
