// The list of protocols. A new protocol is a folder and a row here; all other code uses the rows.
import { assert } from "../assert.ts";
import type { Vendor } from "./access.ts";
import { anthropicMessages } from "./anthropic-messages/index.ts";
import { bedrockConverse } from "./bedrock/converse/index.ts";
import { bedrockInvoke } from "./bedrock/invoke/index.ts";
import { gemini } from "./gemini/index.ts";
import { openaiChat } from "./openai/chat/index.ts";
import { openaiResponses } from "./openai/responses/index.ts";
import type { Protocol } from "./protocol.ts";
import { listedVendors, type ListedVendor } from "./read-vendors.ts";
import { vertexAnthropic } from "./vertex-anthropic/index.ts";

/** The first one wins if two fit a request equally. */
export const protocols: readonly [
  typeof anthropicMessages,
  typeof openaiChat,
  typeof openaiResponses,
  typeof gemini,
  typeof bedrockConverse,
  typeof bedrockInvoke,
  typeof vertexAnthropic,
] = [
  anthropicMessages,
  openaiChat,
  openaiResponses,
  gemini,
  bedrockConverse,
  bedrockInvoke,
  vertexAnthropic,
];

export type ProtocolName = (typeof protocols)[number]["name"];

export function findProtocol(
  name: string,
  rows: readonly Protocol[] = protocols,
): Protocol | undefined {
  return rows.find((protocol) => protocol.name === name);
}

/** The values of `providers.*.kind` that name a protocol: each protocol's own kind first. */
export const protocolKinds: readonly string[] = [
  ...protocols.map(({ access }) => access.kind),
  ...protocols.flatMap(({ access }) => access.compatibleKind ?? []),
];

export function findProtocolOfKind(kind: string): Protocol | undefined {
  return protocols.find(({ access }) => access.kind === kind || access.compatibleKind === kind);
}

/** A vendor that works without an entry in strata.yaml. */
export interface KnownVendor extends Vendor {
  /** The one that is spoken if nothing else is configured. */
  readonly protocol: Protocol;
  /** Its `kind` in strata.yaml. */
  readonly kind: string;
  /** Null for the vendor whose protocol it is. */
  readonly listed: ListedVendor | null;
}

/** The protocols' own vendors first. */
export const vendors: readonly KnownVendor[] = [
  ...protocols.flatMap((protocol): readonly KnownVendor[] => {
    const { vendor, kind } = protocol.access;
    return vendor === null ? [] : [{ ...vendor, protocol, kind, listed: null }];
  }),
  ...listedVendors.map((listed): KnownVendor => {
    const { name, keyVariable, urlVariable } = listed;
    const [kind = ""] = listed.addresses.keys();
    const protocol = findProtocolOfKind(kind);
    assert(protocol !== undefined, `${name} in vendors.json has no known kind`);
    return { name, keyVariable, urlVariable, protocol, kind, listed };
  }),
];

/** Where a vendor speaks a protocol. Undefined if no such address is known. */
export function findAddress(name: string, protocol: Protocol): string | undefined {
  const vendor = findVendor(name);
  if (vendor === undefined || vendor.listed === null) return undefined;
  const kinds = [...vendor.listed.addresses];
  return kinds.find(([kind]) => findProtocolOfKind(kind)?.name === protocol.name)?.[1];
}

export function findVendor(name: string): KnownVendor | undefined {
  return vendors.find((vendor) => vendor.name === name);
}

/** The variable with the key of the vendor that answers for a model: the one of its route, else its own. */
export function findKeyVariable(
  model: { readonly route: string; readonly provider: string } | undefined,
): string | undefined {
  if (model === undefined) return undefined;
  return (findVendor(model.route) ?? findVendor(model.provider))?.keyVariable;
}

/** The default protocol for a provider: the vendor's own, or the one that other vendors also use. */
export function usualProtocol(provider: string): Protocol {
  const protocol =
    findVendor(provider)?.protocol ??
    protocols.find(({ access }) => access.compatibleKind !== undefined);
  assert(protocol !== undefined, "no protocol is spoken by others than its vendor");
  return protocol;
}
