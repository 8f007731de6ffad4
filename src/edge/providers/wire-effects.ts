// What a protocol may need of the world besides a POST with a key in a header: signatures, answers in frames.
import { StrataError } from "../../core/strata-error.ts";
import type { Protocol } from "../../core/wire/protocol.ts";
import { createEventReader, isEventStream, type StreamForm } from "./sse.ts";

export interface WireEffects {
  /** Further headers of one attempt, such as a signature. Called just before it is sent. */
  sign?(request: UnsignedRequest): Promise<Readonly<Record<string, string>>>;
  /** How an answer of this content type is read as it comes; undefined where it is no stream. */
  findStreamForm?(contentType: string): StreamForm | undefined;
}

export interface UnsignedRequest {
  readonly method: "POST";
  readonly origin: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly pieces: readonly Uint8Array[];
}

/** By the name that a protocol declares, each from a folder of its own. No protocol of ours needs any yet. */
const knownEffects: ReadonlyMap<string, WireEffects> = new Map();

const noEffects: WireEffects = {};

/** A protocol that needs what nobody has would be sent half of it: that is an error before anything is sent. */
export function findEffects({ name, effects }: Protocol, given?: WireEffects): WireEffects {
  if (effects === undefined) return given ?? noEffects;
  const found = given ?? knownEffects.get(effects);
  if (found !== undefined) return found;
  throw new StrataError(
    "config-invalid",
    `the protocol ${name} needs the effects "${effects}", and this provider was not given them`,
    "give the effects of the protocol with the provider's options",
  );
}

/** Text events, or what the protocol says; undefined for an answer that comes at once. */
export function findStreamForm(
  contentType: string | undefined,
  effects: WireEffects,
): StreamForm | undefined {
  if (isEventStream(contentType)) return createEventReader;
  return effects.findStreamForm?.(contentType ?? "");
}
