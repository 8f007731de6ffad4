// The upstreams that need no configuration: every vendor Strata knows, at its own address.
import type { Protocol } from "../../core/wire/protocol.ts";
import { findProtocolOfKind, protocols, vendors } from "../../core/wire/protocols.ts";
import type { Upstream, UpstreamAddress } from "./upstream-table.ts";

export function builtInUpstreams(): readonly Upstream[] {
  return vendors.map(({ name, listed }): Upstream => {
    if (listed === null) return ownVendor(name);
    const addresses = [...listed.addresses].map(([kind, baseUrl]): UpstreamAddress => ({
      baseUrl,
      protocol: findProtocolOfKind(kind) ?? null,
      isUsual: false,
      isVendor: false,
    }));
    return { name, aliases: [], addresses, headers: [], spoken: null };
  });
}

/** A vendor may have several protocols, such as an old and a new one. */
function ownVendor(name: string): Upstream {
  const own = protocols.find(({ access }) => access.vendor?.name === name);
  const spoken = protocols.filter(({ access }) => access.baseUrl === own?.access.baseUrl);
  const addresses = spoken.map(toUsual);
  return { name, aliases: aliasesOf(spoken), addresses, headers: [], spoken: null };
}

function toUsual(protocol: Protocol): UpstreamAddress {
  return { baseUrl: protocol.access.baseUrl, protocol, isUsual: true, isVendor: true };
}

function aliasesOf(spoken: readonly Protocol[]): readonly string[] {
  return spoken.map(({ access }) => access.kind);
}

/** All of them at one address, for a server that speaks every protocol, such as the simulator. */
export function upstreamsAt(url: string): readonly Upstream[] {
  return builtInUpstreams().map((upstream) => ({
    ...upstream,
    addresses: upstream.addresses.map((address) => ({
      ...address,
      baseUrl: `${url}${pathOf(address.protocol)}`,
    })),
  }));
}

/** The path that a protocol's own vendor puts before each request's path. */
function pathOf(protocol: Protocol | null): string {
  if (protocol === null) return "";
  return new URL(protocol.access.baseUrl).pathname.replace(/\/+$/, "");
}
