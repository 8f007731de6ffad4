// The keys of the configuration: the gateway's own, and those of its upstreams.
import type { IncomingHttpHeaders } from "node:http";
import type { Environment } from "../../core/config/environment.ts";
import type { GatewayKeyConfig, KeySource } from "../../core/config/schema/gateway-keys.ts";
import type { GatewayConfig, UpstreamConfig } from "../../core/config/schema/gateway.ts";
import { toPicoUsd } from "../../core/models/pico-usd.ts";
import { nearestNames } from "../../core/nearest-names.ts";
import { StrataError } from "../../core/strata-error.ts";
import { vendors } from "../../core/wire/protocols.ts";
import { findKey } from "../../gateway/admission/find-key.ts";
import {
  hashKey,
  indexKeys,
  type GatewayKey,
  type GatewayKeys,
} from "../../gateway/admission/gateway-key.ts";
import type { UpstreamTable } from "../../gateway/upstreams/upstream-table.ts";
import { readSecretLine } from "./secret-files.ts";

interface KeyPlaces {
  readonly env: Environment;
  readonly table: UpstreamTable;
  /** No upstream asks for a real key. */
  readonly isSimulated: boolean;
}

export function readGatewayKeys(
  { keys, upstreams }: Pick<GatewayConfig, "keys" | "upstreams">,
  { env, table, isSimulated }: KeyPlaces,
): GatewayKeys {
  if (keys.size === 0) {
    refuseUnusedKeys(upstreams);
    return { keys: [], upstreamKeys: new Map() };
  }
  const names = table.upstreams.map(({ name }) => name);
  return {
    keys: [...keys].map(([name, config]) => toKey(name, config, { env, names })),
    upstreamKeys: isSimulated
      ? new Map(names.map((name) => [name, "simulated"]))
      : readUpstreamKeys(upstreams, env),
  };
}

/** The keys that are in use, for the API at the same address. */
export interface KnownKeys {
  /** The name of a request's key; null for none of them, undefined where there are no keys. */
  readonly keyOf: (headers: IncomingHttpHeaders) => string | null | undefined;
  readonly use: (keys: GatewayKeys) => GatewayKeys;
}

export function createKnownKeys(): KnownKeys {
  let byHash: ReadonlyMap<string, GatewayKey> = new Map();
  return {
    keyOf: (headers) =>
      byHash.size === 0 ? undefined : (findKey({ headers }, byHash)?.name ?? null),
    use: (keys) => {
      byHash = indexKeys(keys.keys);
      return keys;
    },
  };
}

function toKey(
  name: string,
  config: GatewayKeyConfig,
  { env, names }: { readonly env: Environment; readonly names: readonly string[] },
): GatewayKey {
  const { user, team, models, upstreams, otherRequests, rate, budget } = config;
  for (const upstream of upstreams) {
    if (names.includes(upstream)) continue;
    throw new StrataError(
      "config-invalid",
      `gateway.keys.${name}.upstreams names ${upstream}, which is no upstream`,
      `did you mean ${nearestNames(upstream, names, 2).join(" or ") || "another one"}?`,
    );
  }
  return {
    name,
    sha256: hashOf(`gateway.keys.${name}`, config.source, env),
    user,
    team,
    models,
    upstreams,
    otherRequests,
    budget: {
      day: toPico(budget.dayUsd),
      month: toPico(budget.monthUsd),
      total: toPico(budget.totalUsd),
    },
    rate,
  };
}

function toPico(usd: number | null): bigint | null {
  return usd === null ? null : toPicoUsd(usd);
}

/** A key that people can remember can be guessed by trying. */
const keyLengthMin = 20;

function hashOf(path: string, source: KeySource | null, env: Environment): string {
  if (source === null) {
    throw new StrataError(
      "config-invalid",
      `${path} has no key`,
      "give it sha256, key_env or key_file",
    );
  }
  if (source.kind === "hash") return source.sha256;
  const key =
    source.kind === "file"
      ? readSecretLine(source.path, `the key ${path}`)
      : readVariable(env, source.name, `${path}.key_env`);
  if (key.length >= keyLengthMin) return hashKey(key);
  throw new StrataError(
    "config-invalid",
    `${path} has a key of fewer than ${keyLengthMin} characters`,
    "make one with strata keys new",
  );
}

function readUpstreamKeys(
  configured: ReadonlyMap<string, UpstreamConfig>,
  env: Environment,
): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const { name, keyVariable } of vendors) {
    const key = env[keyVariable]?.trim() ?? "";
    // A vendor's key is not for the server that stands in its place.
    if (key !== "" && (configured.get(name)?.baseUrl ?? "") === "") found.set(name, key);
  }
  for (const [name, { key }] of configured) {
    if (key === undefined) continue;
    const path = `gateway.upstreams.${name}`;
    const value =
      "env" in key
        ? readVariable(env, key.env, `${path}.key_env`)
        : readSecretLine(key.file, `the key of ${path}`);
    checkHeaderText(path, value);
    found.set(name, value);
  }
  return found;
}

function checkHeaderText(path: string, key: string): void {
  if (/^[\x21-\x7e]+$/.test(key)) return;
  throw new StrataError(
    "config-invalid",
    `the key of ${path} has characters that no key has`,
    "write the key alone, without spaces or line breaks",
  );
}

function readVariable(env: Environment, name: string, path: string): string {
  const value = env[name]?.trim() ?? "";
  if (value !== "") return value;
  throw new StrataError(
    "config-invalid",
    `${path} names the variable ${name}, which is not set`,
    `set it for strata serve, or use a file`,
  );
}

function refuseUnusedKeys(upstreams: ReadonlyMap<string, UpstreamConfig>): void {
  for (const [name, { key }] of upstreams) {
    if (key === undefined) continue;
    throw new StrataError(
      "config-invalid",
      `gateway.upstreams.${name} has a key, but clients bring their own: gateway.keys has none`,
      "add a key under gateway.keys, or remove this one",
    );
  }
}
