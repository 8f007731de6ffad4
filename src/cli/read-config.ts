// The only file that reads environment variables. Below it, configuration is a plain value.
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { StrataError } from "../core/strata-error.ts";

/** A setting and where it came from, so that a user can ask why. */
export interface Setting<T> {
  readonly value: T;
  readonly origin: string;
}

export interface Config {
  /** Where sessions and caches are kept. */
  readonly dataDirectory: Setting<string>;
}

export type Environment = Readonly<Record<string, string | undefined>>;

export function readConfig(env: Environment): Config {
  return { dataDirectory: readDataDirectory(env) };
}

function readDataDirectory(env: Environment): Setting<string> {
  const own = env["STRATA_DATA_DIR"];
  if (own !== undefined && own !== "") return absolute(own, "STRATA_DATA_DIR");
  const shared = env["XDG_DATA_HOME"];
  if (shared !== undefined && shared !== "") {
    return absolute(join(shared, "strata"), "XDG_DATA_HOME");
  }
  return absolute(join(homedir(), ".local", "share", "strata"), "the home directory");
}

/** A relative path would mean another place from every folder. */
function absolute(path: string, origin: string): Setting<string> {
  if (isAbsolute(path)) return { value: path, origin };
  throw new StrataError(
    "config-invalid",
    `the data directory ${path}, from ${origin}, is not an absolute path`,
    "set STRATA_DATA_DIR to one that begins with /",
  );
}
