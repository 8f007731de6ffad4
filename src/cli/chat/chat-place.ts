// Where a chat's sessions are kept: what a simulated one costs is nobody's money, and is kept apart from what is.
import { dirname, join } from "node:path";
import { resolveAgent } from "../../core/config/resolve-agent.ts";
import type { StrataConfig } from "../../core/config/schema.ts";
import { isSimulatedBy } from "../open-engine-side.ts";
import { usualModel } from "../open-engine-parts.ts";
import { readConfig, readStore, type Environment } from "../read-config.ts";
import { nameOf, type Place } from "../use-ledger.ts";

export interface ChatPlaces {
  readonly place: Place;
  /** Where sessions of the other kind are; null where all are in one place, which somebody named. */
  readonly other: Place | null;
}

export interface WhoseChat {
  readonly env: Environment;
  readonly config: StrataConfig;
  /** From `--store`. */
  readonly store: string | undefined;
  readonly agent: string | undefined;
  readonly model: string | undefined;
}

/** Where no place is named, simulated sessions have one of their own. */
export function findPlaces({ env, config, store, agent, model }: WhoseChat): ChatPlaces {
  const { value: where, origin } = readStore(env, store, config.ledger.store);
  const usual = { where, name: nameOf(where), origin };
  if (where !== join(readConfig(env).dataDirectory.value, "ledger.db")) {
    return { place: usual, other: null };
  }
  const path = join(dirname(where), "simulated.db");
  const simulated = { where: path, name: path, origin };
  const named = model ?? resolveAgent(config, agent ?? "agent").model;
  const isSimulated = isSimulatedBy(config, named ?? usualModel(config.providers));
  return isSimulated ? { place: simulated, other: usual } : { place: usual, other: simulated };
}
