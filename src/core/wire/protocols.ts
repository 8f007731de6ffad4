// The protocols we speak, a row each. A new one is its folder and its row: everything else asks the rows.
import { assert } from "../assert.ts";
import type { Vendor } from "./access.ts";
import { anthropicMessages } from "./anthropic-messages/index.ts";
import { openaiChat } from "./openai/chat/index.ts";
import { openaiResponses } from "./openai/responses/index.ts";
import type { Protocol } from "./protocol.ts";

/** Where two fit equally, the first is taken. */
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

/** Every `providers.*.kind` that names a protocol: their own first. */
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

/** Those that need no description in strata.yaml. */
export const vendors: readonly KnownVendor[] = protocols.flatMap((protocol) => {
  const { vendor } = protocol.access;
  return vendor === null ? [] : [{ ...vendor, protocol }];
});

export function findVendor(name: string): KnownVendor | undefined {
  return vendors.find((vendor) => vendor.name === name);
}

/** What a provider is spoken to in where nobody says otherwise: its own protocol, or the one that others speak, too. */
export function usualProtocol(provider: string): Protocol {
  const protocol =
    findVendor(provider)?.protocol ??
    protocols.find(({ access }) => access.compatibleKind !== undefined);
  assert(protocol !== undefined, "no protocol is spoken by others than its vendor");
  return protocol;
}
