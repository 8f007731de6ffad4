// Where a chat's sessions are kept: what a simulated one costs is nobody's money, and is kept apart from what is.
import { dirname, join } from "node:path";
import { resolveAgent } from "../core/config/resolve-agent.ts";
import type { StrataConfig } from "../core/config/schema.ts";
import { StrataError } from "../core/strata-error.ts";
import { isSimulatedBy } from "./open-engine-side.ts";
import { usualModel } from "./open-engine-parts.ts";
import { readConfig, readStore, type Environment } from "./environment.ts";
import { nameOf, type LedgerPlace } from "./ledger-place.ts";

export interface ChatPlaces {
  readonly place: LedgerPlace;
  /** Where sessions of the other kind are; null where all are in one place, which somebody named. */
  readonly other: LedgerPlace | null;
}

export interface WhoseChat {
  readonly env: Environment;
  readonly config: StrataConfig;
  /** From `--store`. */
  readonly store: string | undefined;
  readonly agent: string | undefined;
  readonly model: string | undefined;
  /** A session that goes on has a model of its own: whether the usual one can be asked does not matter. */
  readonly isResumed: boolean;
}

/** Where no place is named, simulated sessions have one of their own. */
export function findPlaces(chat: WhoseChat): ChatPlaces {
  const { env, config, store } = chat;
  const { value: where, origin } = readStore(env, store, config.ledger.store);
  const usual = { where, name: nameOf(where), origin };
  if (where !== join(readConfig(env).dataDirectory.value, "ledger.db")) {
    return { place: usual, other: null };
  }
  const path = join(dirname(where), "simulated.db");
  const simulated = { where: path, name: path, origin };
  return isSimulated(chat)
    ? { place: simulated, other: usual }
    : { place: usual, other: simulated };
}

function isSimulated({ config, agent = "agent", model, isResumed }: WhoseChat): boolean {
  try {
    const named = model ?? resolveAgent(config, agent).model ?? usualModel(config.providers);
    return isSimulatedBy(config, named);
  } catch (error) {
    if (isResumed && error instanceof StrataError) return false;
    throw error;
  }
}
