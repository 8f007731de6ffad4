// What a call costs that a provider served faster, slower or later than usual: a share of the usual price.
import * as read from "./read-fields.ts";
import { onlyPresent } from "../message/fields.ts";
import { timesDecimal } from "./pico-usd.ts";

/** By the provider's word for the service; absent: no price is known. */
export type ServiceTiers = Readonly<Record<string, number>>;

export function parseServiceTiers(value: unknown, place: string): ServiceTiers {
  return Object.fromEntries(
    Object.entries(read.record(value, place)).map(([name, share]) => [
      name,
      read.multiplier(share, `${place}.${name}`),
    ]),
  );
}

/** Why a call does not cost what its usage costs at the usual price. It does where both are absent. */
export interface PricedOtherwise {
  /** The provider's word for a service that is not its usual one. */
  readonly serviceTier?: string;
  /** The cost is what the reply says that the provider charges. */
  readonly isCostNamed?: true;
}

export function toPricedOtherwise({
  serviceTier,
  costPicoUsd,
}: {
  readonly serviceTier?: string;
  readonly costPicoUsd?: bigint;
}): PricedOtherwise {
  return onlyPresent({ serviceTier, isCostNamed: costPicoUsd === undefined ? undefined : true });
}

/**
 * A cost at the usual price, for a call on this tier; null if its price is not known. A model of which no tier is known has one
 * price. Undefined for the usual service.
 */
export function onServiceTier(
  picoUsd: bigint | null,
  { serviceTiers }: { readonly serviceTiers: ServiceTiers },
  tier: string | undefined,
): bigint | null {
  if (picoUsd === null || tier === undefined) return picoUsd;
  if (Object.keys(serviceTiers).length === 0) return picoUsd;
  const share = Object.hasOwn(serviceTiers, tier) ? serviceTiers[tier] : undefined;
  return share === undefined ? null : timesDecimal(picoUsd, share);
}
