// The parts of a configured provider: protocol, address, credentials, time limits, retries.
import { assert } from "../../core/assert.ts";
import type { ProviderConfig } from "../../core/config/schema/providers.ts";
import { StrataError } from "../../core/strata-error.ts";
import { toEndpoint } from "../../core/wire/access.ts";
import type { Protocol } from "../../core/wire/protocol.ts";
import { findAddress, findProtocolOfKind, findVendor, vendors } from "../../core/wire/protocols.ts";
import type { ProviderOptions } from "./provider.ts";

/** For every kind in a configuration except the simulator. */
export function protocolOfKind(kind: string): Protocol {
  const protocol = findProtocolOfKind(kind);
  assert(protocol !== undefined, `no protocol is of the kind ${kind}`);
  return protocol;
}

/** The simulator answers for vendors, in each vendor's own protocol. */
export function simulatedProtocol(model: {
  readonly id: string;
  readonly provider: string;
}): Protocol {
  const vendor = findVendor(model.provider);
  if (vendor !== undefined && vendor.listed === null) return vendor.protocol;
  const own = vendors.filter(({ listed }) => listed === null);
  const names = own.map(({ name }) => name);
  const known = [names.slice(0, -1).join(", "), ...names.slice(-1)].join(" and ");
  throw new StrataError(
    "environment-unfit",
    `the simulator answers for models of ${known}, not for ${model.id}`,
    vendor === undefined
      ? `choose one of theirs, or describe the provider ${model.provider} in your strata.yaml`
      : `set ${vendor.keyVariable}, or choose one of theirs`,
  );
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
  const { kind, apiKey, baseUrl, headers, timeouts, retries } = settings;
  const { access } = protocol;
  const key = kind === access.compatibleKind ? (access.compatibleKey ?? access.key) : access.key;
  const endpoint = toEndpoint(
    { ...access, key },
    {
      apiKey: apiKey ?? "not sent",
      ...(baseUrl === null ? {} : { baseUrl }),
    },
  );
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
