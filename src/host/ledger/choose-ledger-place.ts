// Which ledger sessions go to: simulated ones cost no money, so they are kept apart from real ones.
import { dirname, join } from "node:path";
import type { Environment } from "../../core/config/environment.ts";
import type { StrataConfig } from "../../core/config/schema.ts";
import { StrataError } from "../../core/strata-error.ts";
import { isSimulatedModel, usualModel } from "../config/choose-model.ts";
import { readDataDirectory, readStore } from "../config/environment.ts";
import { nameOf, simulatedFile, type LedgerPlace } from "./ledger-place.ts";

export interface LedgerPlaces {
  readonly place: LedgerPlace;
  /** The place of the other kind of sessions; null if the user named a place, which holds both kinds. */
  readonly other: LedgerPlace | null;
}

export interface SessionWish {
  readonly env: Environment;
  readonly config: StrataConfig;
  /** From `--store`. */
  readonly store: string | undefined;
  readonly agent: string | undefined;
  readonly model: string | undefined;
  /** A resumed session has its own model, so an unreachable model of the agent is no error. */
  readonly isResumed: boolean;
}

/** By default, simulated sessions go to a file beside the ledger. */
export function chooseLedgerPlace(wish: SessionWish): LedgerPlaces {
  const { env, config, store } = wish;
  const { value: where, origin } = readStore(env, store, config.ledger.store);
  const usual = { where, name: nameOf(where), origin };
  if (where !== join(readDataDirectory(env).value, "ledger.db")) {
    return { place: usual, other: null };
  }
  const path = join(dirname(where), simulatedFile);
  const simulated = { where: path, name: path, origin };
  return isSimulated(wish)
    ? { place: simulated, other: usual }
    : { place: usual, other: simulated };
}

function isSimulated({ config, agent = "agent", model, isResumed }: SessionWish): boolean {
  try {
    return isSimulatedModel(config, model ?? usualModel(config, agent));
  } catch (error) {
    if (isResumed && error instanceof StrataError) return false;
    throw error;
  }
}
