// Effects that a protocol may need besides a POST with a key header: signing requests, reading binary frames.
import type { EncodedRequest } from "../../core/wire/encoded-request.ts";
import { StrataError } from "../../core/strata-error.ts";
import type { Protocol } from "../../core/wire/protocol.ts";
import { createEventReader, isEventStream, type StreamForm } from "./sse.ts";

export interface WireEffects {
  /** Returns additional headers, such as a signature. Called just before each attempt. */
  sign?(request: UnsignedRequest): Promise<Readonly<Record<string, string>>>;
  /** How to read a streamed answer of this content type; undefined if it is no stream. */
  findStreamForm?(contentType: string): StreamForm | undefined;
}

export interface UnsignedRequest {
  readonly method: "POST" | NonNullable<EncodedRequest["method"]>;
  readonly origin: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly pieces: readonly Uint8Array[];
}

/** By the name that a protocol declares. Each has its own folder; no built-in protocol needs any yet. */
const knownEffects: ReadonlyMap<string, WireEffects> = new Map();

const noEffects: WireEffects = {};

/** Throws before anything is sent if effects that the protocol needs are missing. */
export function findEffects({ name, effects }: Protocol, given?: WireEffects): WireEffects {
  if (effects === undefined) return given ?? noEffects;
  const found = given ?? knownEffects.get(effects);
  if (found !== undefined) return found;
  throw new StrataError(
    "config-invalid",
    `the protocol ${name} needs the effects "${effects}", and this provider was not given them`,
    "pass them as `effects` in the provider's options",
  );
}

/** Server-sent events, or the form of the protocol; undefined for an answer that is no stream. */
export function findStreamForm(
  contentType: string | undefined,
  effects: WireEffects,
): StreamForm | undefined {
  if (isEventStream(contentType)) return createEventReader;
  return effects.findStreamForm?.(contentType ?? "");
}
