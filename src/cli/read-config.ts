// The only file that reads environment variables. Below it, configuration is a plain value.
import { homedir } from "node:os";
import { join } from "node:path";

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
  if (own !== undefined && own !== "") return { value: own, origin: "STRATA_DATA_DIR" };
  const shared = env["XDG_DATA_HOME"];
  if (shared !== undefined && shared !== "") {
    return { value: join(shared, "strata"), origin: "XDG_DATA_HOME" };
  }
  return { value: join(homedir(), ".local", "share", "strata"), origin: "default" };
}
