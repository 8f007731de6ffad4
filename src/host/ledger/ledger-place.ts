// Where the ledger is and who said so; errors about the place name the setting it came from.
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Environment } from "../../core/config/environment.ts";
import { StrataError } from "../../core/strata-error.ts";
import { isConnectionString } from "../../edge/stores/open-ledger.ts";
import { parseAddress } from "../../edge/stores/postgres/connection-string.ts";
import { readDataDirectory, readStore, type Setting } from "../config/environment.ts";
import { findConfigPlaces, readConfigOnce } from "../config/read-config-once.ts";

export interface LedgerPlace {
  /** A path or a connection string. Never printed. */
  readonly where: string;
  /** The path, or database and host without the password. */
  readonly name: string;
  readonly origin: string;
}

export interface LedgerWish {
  readonly env: Environment;
  /** From `--store`. */
  readonly store: string | undefined;
  /** From `--config`. */
  readonly configFile?: string | undefined;
}

/** Finds the place and works there. Errors about the ledger say where the place came from. */
export async function atLedgerPlace<Result>(
  wish: LedgerWish,
  work: (place: LedgerPlace) => Promise<Result>,
): Promise<Result> {
  const { value: where, origin } = await findStore(wish);
  try {
    return await work({ where, name: nameOf(where), origin });
  } catch (error) {
    throw withOrigin(error, origin);
  }
}

async function findStore({ env, store, configFile }: LedgerWish): Promise<Setting<string>> {
  const isNamed = store !== undefined || (env["STRATA_STORE"] ?? "") !== "";
  return readStore(env, store, isNamed ? null : await readConfiguredStore(env, configFile));
}

/**
 * A configuration that cannot be read is an error: the ledger may be elsewhere. Files of the workspace are not read:
 * they may not say where the ledger is, so a broken one is no obstacle.
 */
async function readConfiguredStore(
  env: Environment,
  configFile: string | undefined,
): Promise<string | null> {
  const files = findConfigPlaces({ env, configFile }).filter(({ isFound }) => !isFound);
  const { config } = await readConfigOnce({ files, env });
  return config.ledger.store;
}

/** For people: without the password. */
export function nameOf(where: string): string {
  return isConnectionString(where) ? parseAddress(where).where : where;
}

/** Simulated sessions are kept here, beside the ledger of the data directory. */
export const simulatedFile = "simulated.db";

/** The file for simulated sessions, where no other ledger is named. */
export function simulatedPlace(env: Environment): string {
  return join(readDataDirectory(env).value, simulatedFile);
}

/** The file for simulated sessions beside a ledger's; null where there is none, or the ledger is that file. */
export function findSimulatedBeside({ where }: Pick<LedgerPlace, "where">): string | null {
  const simulated = join(dirname(where), simulatedFile);
  const isThere = !isConnectionString(where) && where !== simulated && existsSync(simulated);
  return isThere ? simulated : null;
}

/** How the origin of a ledger begins that nobody named. */
export const usualOrigin = "the data directory";

/** What to type for the ledger of simulated sessions. */
export function wayTo(beside: string, { origin }: Pick<LedgerPlace, "origin">): string {
  return origin.startsWith(usualOrigin) ? "--simulated" : `--store ${beside}`;
}

export function refuseMissing(place: LedgerPlace): never {
  const { name, origin } = place;
  const beside = findSimulatedBeside(place);
  const other =
    beside === null
      ? ""
      : `sessions without a provider are in ${beside}: see them with ${wayTo(beside, place)}; `;
  throw new StrataError(
    "not-found",
    `there is no ledger in ${name} yet, which is from ${origin}`,
    `${other}name another place with --store or STRATA_STORE; a ledger is made when the first session is recorded or imported`,
  );
}

const aboutTheStore: ReadonlySet<string> = new Set(["config-invalid", "store-unavailable"]);

function withOrigin(error: unknown, origin: string): unknown {
  if (!(error instanceof StrataError) || !aboutTheStore.has(error.code)) return error;
  const named = new StrataError(
    error.code,
    error.message,
    `${error.hint} (the ledger's place is from ${origin})`,
    { cause: error },
  );
  if (error.stack !== undefined) named.stack = error.stack;
  return named;
}
