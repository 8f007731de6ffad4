// The parts of a configured provider: protocol, address, credentials, time limits, retries.
import { assert } from "../../core/assert.ts";
import type { ProviderConfig } from "../../core/config/schema/providers.ts";
import { StrataError } from "../../core/strata-error.ts";
import { toEndpoint } from "../../core/wire/access.ts";
import type { Protocol } from "../../core/wire/protocol.ts";
import { findAddress, findProtocolOfKind, findVendor, vendors } from "../../core/wire/protocols.ts";
import { vendorPath } from "../../simulator/index.ts";
import type { ProviderOptions } from "./provider.ts";

/** For every kind in a configuration except the simulator. */
export function protocolOfKind(kind: string): Protocol {
  const protocol = findProtocolOfKind(kind);
  assert(protocol !== undefined, `no protocol is of the kind ${kind}`);
  return protocol;
}

/** Where the simulator answers for a model. */
export interface SimulatedPlace {
  /** The vendor. */
  readonly name: string;
  readonly protocol: Protocol;
  /** Of the vendor's address: the simulator's paths are the same. */
  readonly path: string;
  /** Whether it is a router with many hosts. */
  readonly hasManyHosts: boolean;
}

/** The simulator answers for every known vendor, in the protocol that the vendor is usually asked in. */
export function simulatedPlace(model: {
  readonly id: string;
  readonly provider: string;
  readonly route: string;
}): SimulatedPlace {
  const vendor = findVendor(model.route) ?? findVendor(model.provider);
  if (vendor === undefined) {
    throw new StrataError(
      "environment-unfit",
      `the simulator knows no provider ${model.provider}, so it does not answer for ${model.id}`,
      `describe the provider ${model.provider} in your strata.yaml, or choose a model of ${vendors.map(({ name }) => name).join(", ")}`,
    );
  }
  const { name, protocol, listed } = vendor;
  if (listed === null) {
    const path = pathOf(protocol.access.baseUrl);
    return { name, protocol, path, hasManyHosts: false };
  }
  // All vendors share one address, so each has a folder of it.
  const path = `${vendorPath(name)}${pathOf(findAddress(name, protocol))}`;
  return { name, protocol, path, hasManyHosts: listed.hasManyHosts };
}

function pathOf(address: string | undefined): string {
  assert(address !== undefined, "a vendor's usual protocol has an address");
  return new URL(address).pathname;
}

/** With the address of the vendor of this name, if none is configured. */
export function withAddress(
  settings: ProviderConfig,
  name: string,
  protocol: Protocol,
): ProviderConfig {
  const baseUrl = settings.baseUrl ?? findAddress(name, protocol) ?? null;
  return baseUrl === settings.baseUrl ? settings : { ...settings, baseUrl };
}

export function toProviderOptions(settings: ProviderConfig, protocol: Protocol): ProviderOptions {
  const { apiKey, baseUrl, headers, timeouts, retries } = settings;
  const endpoint = toEndpoint(protocol.access, {
    apiKey: apiKey ?? "not sent",
    ...(baseUrl === null ? {} : { baseUrl }),
  });
  const own = apiKey === null ? {} : endpoint.credentials;
  return {
    protocol,
    baseUrl: endpoint.baseUrl,
    // Configured headers may be secrets too.
    credentials: { ...own, ...Object.fromEntries(headers) },
    timeouts,
    retries,
  };
}

/** The same text for the same settings. It holds the key: never print it. */
export function keyOfSettings(settings: ProviderConfig): string {
  return JSON.stringify({ ...settings, headers: [...settings.headers] });
}
