// Commands on a ledger: where it is, opened and closed, with errors that say where the place came from.
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { toConfigError } from "../core/config/config-problem.ts";
import { StrataError } from "../core/strata-error.ts";
import { findConfigFiles } from "../edge/config/find-config-files.ts";
import { loadConfig } from "../edge/config/load-config.ts";
import { makeStore, openStore, type OpenStore } from "../edge/stores/open-store.ts";
import { isConnectionString } from "../edge/stores/open-ledger.ts";
import { parseAddress } from "../edge/stores/postgres/connection-string.ts";
import type { CommandInput, Io } from "./command.ts";
import { readStore, type Environment } from "./read-config.ts";
import { toPrintable } from "./render-ledger.ts";

export interface Place {
  /** A path or a connection string. Never printed. */
  readonly where: string;
  /** The path, or database and host without the password. */
  readonly name: string;
  readonly origin: string;
}

type Work = (store: OpenStore, place: Place) => Promise<number>;

/** A ledger that is not there yet is an error, unless the command has something else to say. */
export function useLedger(
  input: CommandInput,
  io: Io,
  work: Work,
  ifMissing: (place: Place) => number = refuseMissing,
): Promise<number> {
  return atPlace(input, io, async (place) => {
    const store = await openStore(place.where, { onProblem: createOnProblem(io) });
    return store === null ? ifMissing(place) : closing(store, () => work(store, place));
  });
}

/** The ledger is made where there is none. */
export function useMadeLedger(input: CommandInput, io: Io, work: Work): Promise<number> {
  return atPlace(input, io, async (place) => {
    const store = await makeStore(place.where, { onProblem: createOnProblem(io) });
    return closing(store, () => work(store, place));
  });
}

/** What does not end a command is told beside what it prints. */
export function createOnProblem({ error }: Pick<Io, "error">): (problem: unknown) => void {
  return (problem) => {
    const said = problem instanceof Error ? problem.message : String(problem);
    const hint = problem instanceof StrataError ? `\n  ${problem.hint}` : "";
    error(toPrintable(`strata: warning: ${said}${hint}\n`));
  };
}

/**
 * A configuration that cannot be read is an error: the ledger may be elsewhere. A file of the workspace cannot say
 * where it is, so that nothing in it can be in the way.
 */
async function readConfiguredStore(env: Environment): Promise<string | null> {
  const places = findConfigFiles({ env, workspace: process.cwd(), homeFolder: homedir() });
  const files = places.filter(({ isFound }) => !isFound);
  const { config, problems } = await loadConfig({ files, env });
  if (config !== null) return config.ledger.store;
  throw toConfigError(problems.filter(({ severity }) => severity === "error"));
}

export async function atPlace(
  input: CommandInput,
  io: Pick<Io, "env">,
  work: (place: Place) => Promise<number>,
): Promise<number> {
  const given = input.values.get("store");
  const isSaid = given !== undefined || (io.env["STRATA_STORE"] ?? "") !== "";
  const configured = isSaid ? null : await readConfiguredStore(io.env);
  const { value: where, origin } = readStore(io.env, given, configured);
  try {
    return await work({ where, name: nameOf(where), origin });
  } catch (error) {
    throw withOrigin(error, origin);
  }
}

export function nameOf(where: string): string {
  return isConnectionString(where) ? parseAddress(where).where : where;
}

/** Where sessions without a provider are, where that is beside a place: words that end with a semicolon, or none. */
export function simulatedBeside({ where }: Pick<Place, "where">): string {
  const simulated = join(dirname(where), "simulated.db");
  const isThere = !isConnectionString(where) && where !== simulated && existsSync(simulated);
  return isThere ? `sessions without a provider are in --store ${simulated}; ` : "";
}

export function refuseMissing(place: Place): never {
  const { name, origin } = place;
  const beside = simulatedBeside(place);
  throw new StrataError(
    "not-found",
    `there is no ledger in ${name} yet, which is from ${origin}`,
    `${beside}name another place with --store or STRATA_STORE; a ledger is made when the first session is recorded or imported`,
  );
}

async function closing(store: OpenStore, work: () => Promise<number>): Promise<number> {
  try {
    return await work();
  } finally {
    await store.ledger.close();
  }
}

const aboutTheStore: ReadonlySet<string> = new Set(["config-invalid", "store-unavailable"]);

function withOrigin(error: unknown, origin: string): unknown {
  if (!(error instanceof StrataError) || !aboutTheStore.has(error.code)) return error;
  const told = new StrataError(
    error.code,
    error.message,
    `${error.hint} (the ledger's place is from ${origin})`,
    { cause: error },
  );
  if (error.stack !== undefined) told.stack = error.stack;
  return told;
}
