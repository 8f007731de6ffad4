// The body of a request → the model call it is, if it is one.
import type { ForeignRequest } from "../../core/wire/foreign/foreign-request.ts";
import {
  noAddress,
  type RequestAddress,
  type RequestNames,
} from "../../core/wire/foreign/foreign-reader.ts";
import { readRequest } from "../../core/wire/foreign/read-request.ts";
import { recogniseProtocol } from "../../core/wire/foreign/recognise-protocol.ts";
import { parseJsonTree } from "../../core/message/json-tree.ts";
import type { Protocol } from "../../core/wire/protocol.ts";

/** A body that was read, for the next one of its conversation. */
export interface ReadDocument {
  readonly protocol: Protocol;
  readonly request: ForeignRequest;
  readonly names: RequestNames | null;
  readonly byteLength: number;
}

export interface BodyToRead {
  readonly pieces: readonly Uint8Array[];
  readonly address: RequestAddress;
  /** The protocols that are spoken at this address. */
  readonly rows: readonly Protocol[];
}

/** Null for a body that is no model call. */
export function readBody({ pieces, address, rows }: BodyToRead): ReadDocument | null {
  const bytes = Buffer.concat(pieces);
  const text = bytes.toString("utf8");
  const root = parseJsonTree(text, "the request body");
  if (root.kind !== "object") return null;
  const protocol = recogniseProtocol({ ...noAddress, ...address, body: root }, rows);
  if (protocol === undefined) return null;
  const request = readRequest(text, { protocol, address });
  const names = protocol.foreign.namesIn?.(root) ?? null;
  return { protocol, request, names, byteLength: bytes.byteLength };
}
