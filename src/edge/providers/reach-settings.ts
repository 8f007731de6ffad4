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
import { vendorPath } from "../../simulator/index.ts";
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

/** Where the simulator answers for a model. */
export interface SimulatedPlace {
  /** The vendor. */
  readonly name: string;
  readonly protocol: Protocol;
  /** The path in the vendor's address: the simulator's is the same. */
  readonly path: string;
  /** Whether it is a router with many hosts. */
  readonly hasManyHosts: boolean;
  /** Whether it is a server of one's own. */
  readonly isLocal: boolean;
}

/** The simulator answers for every known vendor, in the protocol in which the vendor serves the model. */
export function simulatedPlace(
  model: Pick<ModelFacts, "id" | "provider" | "route">,
): SimulatedPlace {
  const vendor = findVendor(model.route) ?? findVendor(model.provider);
  if (vendor === undefined) {
    throw new StrataError(
      "environment-unfit",
      `the simulator knows no provider ${model.provider}, so it does not answer for ${model.id}`,
      `describe the provider ${model.provider} in your strata.yaml, or choose a model of ${vendors.map(({ name }) => name).join(", ")}`,
    );
  }
  const { name, listed } = vendor;
  if (listed === null) {
    const path = pathOf(vendor.protocol.access.baseUrl);
    return { name, protocol: vendor.protocol, path, hasManyHosts: false, isLocal: false };
  }
  const protocol = protocolOfKind(kindFor(vendor, name, model));
  const address = findAddress(name, protocol);
  assert(address !== undefined, "a vendor has an address in each protocol that it speaks");
  // Vendors share one address here, so each has a folder of it. A cloud's own paths tell it apart.
  const folder = listed.cloud === null ? vendorPath(name) : "";
  // As the prices of a model without a location are.
  const places = new Map([...listed.places.keys()].map((place) => [place, "global"]));
  const path = `${folder}${pathOf(fillAddress(listed, address, places))}`;
  const { hasManyHosts, isLocal: isOwn } = listed;
  return { name, protocol, path, hasManyHosts, isLocal: isOwn };
}

function pathOf(address: string): string {
  return new URL(address).pathname.replace(/\/$/, "");
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

/** A server on this machine, by its own name, or by the one that its settings say it is like. */
function isLocal(name: string, { wire }: Pick<ProviderConfig, "wire">): boolean {
  return [name, wire.like ?? ""].some((each) => findVendor(each)?.listed?.isLocal === true);
}

export function toProviderOptions(
  settings: ProviderConfig,
  protocol: Protocol,
  name: string,
): ProviderOptions {
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
    timesReading: isLocal(name, settings),
  };
}

/** The same text for the same settings. It holds the key: never print it. */
export function keyOfSettings(settings: ProviderConfig): string {
  const { headers, places } = settings;
  return JSON.stringify({ ...settings, headers: [...headers], places: [...places] });
}
