// The list of protocols. A new protocol is a folder and a row here; all other code uses the rows.
import { assert } from "../assert.ts";
import type { Vendor } from "./access.ts";
import { anthropicMessages } from "./anthropic-messages/index.ts";
import { openaiChat } from "./openai/chat/index.ts";
import { openaiResponses } from "./openai/responses/index.ts";
import type { Protocol } from "./protocol.ts";

/** The first one wins if two fit a request equally. */
export const protocols: readonly [
  typeof anthropicMessages,
  typeof openaiChat,
  typeof openaiResponses,
] = [anthropicMessages, openaiChat, openaiResponses];

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

export interface KnownVendor extends Vendor {
  readonly protocol: Protocol;
}

/** Vendors that work without an entry in strata.yaml. */
export const vendors: readonly KnownVendor[] = protocols.flatMap((protocol) => {
  const { vendor } = protocol.access;
  return vendor === null ? [] : [{ ...vendor, protocol }];
});

export function findVendor(name: string): KnownVendor | undefined {
  return vendors.find((vendor) => vendor.name === name);
}

/** The default protocol for a provider: the vendor's own, or the one that other vendors also use. */
export function usualProtocol(provider: string): Protocol {
  const protocol =
    findVendor(provider)?.protocol ??
    protocols.find(({ access }) => access.compatibleKind !== undefined);
  assert(protocol !== undefined, "no protocol is spoken by others than its vendor");
  return protocol;
}
