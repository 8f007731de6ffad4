// Variables that say where data and the ledger are. Settings of strata.yaml that can be given as variables are in
// core/config/environment.ts.
import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import type { Environment } from "../../core/config/environment.ts";
import { readStorePlace } from "../../core/config/store-place.ts";
import { StrataError } from "../../core/strata-error.ts";
import { vendors } from "../../core/wire/protocols.ts";

/** A value and where it came from. */
export interface Setting<T> {
  readonly value: T;
  readonly origin: string;
}

/** Where the ledger is: `--store`, else STRATA_STORE, else the configuration, else a file in the data directory. */
export function readStore(
  env: Environment,
  given?: string,
  configured: string | null = null,
): Setting<string> {
  if (given !== undefined) return checkedStore(given, "--store");
  const own = env["STRATA_STORE"];
  if (own !== undefined && own !== "") return checkedStore(own, "STRATA_STORE");
  if (configured !== null) return checkedStore(configured, "ledger.store in the configuration");
  const { value, origin } = readDataDirectory(env);
  return { value: join(value, "ledger.db"), origin: `the data directory, from ${origin}` };
}

/** Variables with keys, addresses, places and clouds of providers, and those that name beta headers. */
export const providerVariableNames: readonly string[] = [
  ...vendors.flatMap(({ keyVariable, urlVariable, listed }) => [
    keyVariable,
    urlVariable,
    ...[...(listed?.places.values() ?? [])].flat(),
    ...(listed?.cloud?.variables ?? []),
  ]),
  "ANTHROPIC_CACHE_BETA",
  "ANTHROPIC_CACHE_LONG_TTL_BETA",
];

/** Where sessions and caches are kept. */
export function readDataDirectory(env: Environment): Setting<string> {
  const own = env["STRATA_DATA_DIR"];
  if (own !== undefined && own !== "") return absolute(own, "STRATA_DATA_DIR");
  const shared = env["XDG_DATA_HOME"];
  if (shared !== undefined && shared !== "") {
    return absolute(join(shared, "strata"), "XDG_DATA_HOME");
  }
  return absolute(join(homedir(), ".local", "share", "strata"), "the home directory");
}

/** A relative path would mean a different place in every folder. */
function absolute(path: string, origin: string): Setting<string> {
  if (isAbsolute(path)) return { value: path, origin };
  throw new StrataError(
    "config-invalid",
    `the data directory ${path}, from ${origin}, is not an absolute path`,
    "set STRATA_DATA_DIR to one that begins with /",
  );
}

/** Never prints the refused text: a mistyped connection string may hold a password. */
function checkedStore(text: string, origin: string): Setting<string> {
  const place = readStorePlace(text);
  if (place.kind === "server") return { value: place.address, origin };
  if (place.kind === "refused") throw refusedStore(`the store, from ${origin}, ${place.why}`);
  const { path } = place;
  // A typed path is relative to this folder; a variable is read in every folder.
  if (origin === "--store") return { value: resolve(path), origin };
  if (path.startsWith("~/")) return { value: join(homedir(), path.slice(2)), origin };
  if (isAbsolute(path)) return { value: path, origin };
  throw refusedStore(`the store, from ${origin}, is not an absolute path`);
}

function refusedStore(message: string): StrataError {
  return new StrataError(
    "config-invalid",
    message,
    "name a file as /path/to/ledger.db, or a server as postgres://user:password@host:5432/database",
  );
}
