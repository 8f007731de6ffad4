// The upstreams of a configuration: every known vendor, and the servers that the user named.
import { onlyPresent } from "../../core/message/fields.ts";
import type { UpstreamConfig } from "../../core/config/schema/gateway.ts";
import { findProtocolOfKind } from "../../core/wire/protocols.ts";
import { builtInUpstreams } from "./built-in.ts";
import { createUpstreamSign } from "./sign-upstream.ts";
import {
  createUpstreamTable,
  type Upstream,
  type UpstreamAddress,
  type UpstreamTable,
} from "./upstream-table.ts";

/** `known`: the upstreams to which the configured ones are added; all vendors by default. `region`: that of signatures. */
export function toUpstreamTable(
  configured: ReadonlyMap<string, UpstreamConfig>,
  known: readonly Upstream[] = builtInUpstreams(),
  region: string | null = null,
): UpstreamTable {
  const added = [...configured].map(([name, config]) =>
    toUpstream(
      name,
      { ...config, region: config.region ?? region },
      known.find((each) => each.name === name),
    ),
  );
  return createUpstreamTable([...known, ...added]);
}

/**
 * An upstream with a vendor's name replaces that vendor, so its requests need no name in their path; without an address it only
 * adds to the vendor.
 */
function toUpstream(
  name: string,
  { baseUrl, protocol: kind, headers, credentials = null, region = null }: UpstreamConfig,
  replaced: Upstream | undefined,
): Upstream {
  const spoken = kind === null ? null : (findProtocolOfKind(kind) ?? null);
  const access = spoken?.access;
  const one: UpstreamAddress = {
    baseUrl,
    protocol: spoken,
    isUsual: spoken !== null,
    isVendor: false,
    ...onlyPresent({
      keyHeader: kind === access?.compatibleKind ? access?.compatibleKey : undefined,
    }),
  };
  const same =
    baseUrl === ""
      ? replaced?.addresses
      : replaced?.addresses.map((address) => ({ ...address, baseUrl, isVendor: false }));
  return {
    name,
    aliases: replaced?.aliases ?? [],
    addresses: spoken === null && same !== undefined ? same : [one],
    headers: [...headers].flat(),
    spoken,
    ...(credentials === null ? {} : { sign: createUpstreamSign(credentials, region) }),
  };
}
