// A request ready to send: pieces of bytes that are sent one after the other, never joined.
import type { LeftOut } from "../assembly/spelling.ts";

/** `Body`: the type of the whole body. */
export interface EncodedRequest<Body = unknown> {
  /** The path after the provider's base URL, with a query if the protocol has one. */
  readonly path: string;
  /** POST if absent. */
  readonly method?: "GET" | "PATCH" | "DELETE";
  /** The body. Pieces of the prefix are the same bytes as in earlier calls. */
  readonly pieces: readonly Uint8Array[];
  readonly byteLength: number;
  /** Headers besides credentials and content type. Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Beta features that the headers ask for; absent for none. */
  readonly betas?: readonly string[];
  /** Asks why the cache missed, against the reply of this id, or null to begin with it. Absent if it does not ask. */
  readonly comparesWith?: string | null;
  /** Requested options that are not in the body, with the reason. */
  readonly notes: readonly EncodeNote[];
  /** The same body as an object for SDKs. Builds the whole request again on each call. */
  toObject(): Body;
}

export interface EncodeNote {
  readonly kind: "markers-stripped" | "option-ignored" | "content-left-out";
  readonly detail: string;
}

export function leftOutNote({ what, reason }: LeftOut): EncodeNote {
  return { kind: "content-left-out", detail: `${what}: ${reason}` };
}

const utf8 = new TextEncoder();
const asText = new TextDecoder();

export interface RequestParts extends Pick<EncodedRequest, "path" | "method"> {
  /** The parts of the body, in order. */
  readonly parts: readonly (string | Uint8Array)[];
  readonly headers?: EncodedRequest["headers"];
  readonly betas?: readonly string[];
  readonly notes?: EncodedRequest["notes"];
}

/** A body from text and bytes; neighbouring texts become one piece. */
export function toRequest<Body = unknown>({
  path,
  method,
  parts,
  headers = {},
  betas = [],
  notes = [],
}: RequestParts): EncodedRequest<Body> {
  const pieces: Uint8Array[] = [];
  let text = "";
  const flush = (): void => {
    if (text !== "") pieces.push(utf8.encode(text));
    text = "";
  };
  for (const part of parts) {
    if (typeof part === "string") text += part;
    else if (part.length > 0) {
      flush();
      pieces.push(part);
    }
  }
  flush();
  return {
    path,
    ...(method === undefined ? {} : { method }),
    pieces,
    byteLength: pieces.reduce((sum, piece) => sum + piece.length, 0),
    headers,
    ...(betas.length === 0 ? {} : { betas }),
    notes,
    toObject: () => JSON.parse(bodyText(pieces)),
  };
}

/** The body as text. */
export function bodyText(pieces: readonly Uint8Array[]): string {
  return pieces.map((piece) => asText.decode(piece, { stream: true })).join("") + asText.decode();
}
