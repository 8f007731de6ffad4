// The parts of a configured provider: protocol, address, credentials, time limits, retries.
import { assert } from "../../core/assert.ts";
import type { ProviderConfig } from "../../core/config/schema/providers.ts";
import type { ModelFacts } from "../../core/models/model-facts.ts";
import { StrataError } from "../../core/strata-error.ts";
import { toEndpoint } from "../../core/wire/access.ts";
import type { Protocol } from "../../core/wire/protocol.ts";
import { findAddress, findProtocolOfKind, findVendor, vendors } from "../../core/wire/protocols.ts";
import { fillAddress, pathOfAddress } from "../../core/wire/vendor-address.ts";
import { parseBaseUrl } from "./endpoints.ts";
import type { ProviderOptions } from "./provider.ts";

/** The kind that serves a model: a vendor may speak another one for models of some providers. */
export function kindFor(
  { kind }: Pick<ProviderConfig, "kind">,
  name: string,
  { provider }: Pick<ModelFacts, "provider">,
): string {
  const vendor = findVendor(name);
  const isUsual = vendor?.kind === kind;
  return (isUsual ? vendor.listed?.kindOfProvider.get(provider) : undefined) ?? kind;
}

/** For every kind in a configuration except the simulator. */
export function protocolOfKind(kind: string): Protocol {
  const protocol = findProtocolOfKind(kind);
  assert(protocol !== undefined, `no protocol is of the kind ${kind}`);
  return protocol;
}

/** The simulator answers for vendors, in each vendor's own protocol, and for clouds that serve their models. */
export function simulatedProtocol(model: Pick<ModelFacts, "id" | "provider" | "route">): Protocol {
  const kind = findVendor(model.route)?.listed?.kindOfProvider.get(model.provider);
  if (kind !== undefined) return protocolOfKind(kind);
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
  const { baseUrl, places } = settings;
  const listed = findVendor(name)?.listed ?? null;
  const address = findAddress(name, protocol);
  if (listed === null || address === undefined) return settings;
  if (baseUrl === null) return { ...settings, baseUrl: fillAddress(listed, address, places) };
  const path = listed.places.size === 0 ? "" : pathOfAddress(address);
  // The base URL of a cloud's own programs ends before the project.
  if (path === "" || baseUrl.includes("/projects/")) return settings;
  const base = parseBaseUrl(baseUrl);
  const whole = base.pathTo(fillAddress(listed, path, places));
  return { ...settings, baseUrl: `${base.origin}${whole}` };
}

export function toProviderOptions(settings: ProviderConfig, protocol: Protocol): ProviderOptions {
  const { kind, apiKey, baseUrl, headers, timeouts, retries, credentials, places } = settings;
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
    ...(credentials === null || apiKey !== null
      ? {}
      : { signing: { cloud: credentials, region: places.get("region") ?? null } }),
    timeouts,
    retries,
  };
}

/** The same text for the same settings. It holds the key: never print it. */
export function keyOfSettings(settings: ProviderConfig): string {
  const { headers, places } = settings;
  return JSON.stringify({ ...settings, headers: [...headers], places: [...places] });
}
