// Chooses the configured provider of a model: the one named like its route, else like its provider.
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
 * The simulator answers if it is configured by name, or if no provider is configured. A model whose provider
 * is missing while others are configured is an error: simulated answers by mistake would mislead.
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
    if (isUsable(settings) || isAskedByName(name, settings))
      return { kind: "configured", name, settings };
  }
  if (![...providers.values()].some(isUsable)) {
    return { kind: "simulated", why: noKey };
  }
  throw unreachable(model, names.at(-1) ?? model.provider, providers);
}

/** Whether a request to it says who asks. */
export function hasCredentials({ apiKey, headers, credentials }: ProviderConfig): boolean {
  return apiKey !== null || headers.size > 0 || credentials !== null;
}

/** A custom address needs no key: a gateway may have it, and a local server needs none. */
export function isUsable({ kind, apiKey, baseUrl, headers }: ProviderConfig): boolean {
  return kind !== "simulator" && (apiKey !== null || baseUrl !== null || headers.size > 0);
}

/**
 * A server on this machine needs no key, and a cloud's credentials may be there for other programs: both answer only for models that
 * name them.
 */
function isAskedByName(name: string, { kind, credentials }: ProviderConfig): boolean {
  if (kind === "simulator") return false;
  return credentials !== null || findVendor(name)?.listed?.isLocal === true;
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
