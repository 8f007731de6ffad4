// Effects that a protocol or its vendor may need besides a POST with a key header: signing requests, reading binary frames.
import { StrataError } from "../../core/strata-error.ts";
import type { Cloud } from "../../core/wire/read-vendors.ts";
import type { Protocol } from "../../core/wire/protocol.ts";
import { isFrames, readFrames } from "./bedrock/frames.ts";
import { awsSecretHeaders, createAwsSign } from "./bedrock/sign.ts";
import type { Sign } from "./sign-request.ts";
import { createEventReader, isEventStream, type StreamForm } from "./sse.ts";
import { createGoogleSign, googleSecretHeaders } from "./vertex/sign.ts";

export interface WireEffects {
  /** Returns additional headers, such as a signature. Called just before each attempt. */
  readonly sign?: Sign;
  /** Those of the additional headers whose values are secrets; names in lower case. Absent for none. */
  readonly secretHeaders?: readonly string[];
  /** How to read a streamed answer of this content type; undefined if it is no stream. */
  findStreamForm?(contentType: string): StreamForm | undefined;
}

/** By the name that a protocol declares. Each has its own folder. */
const knownEffects: ReadonlyMap<string, WireEffects> = new Map([
  ["bedrock", { findStreamForm: (type) => (isFrames(type) ? readFrames : undefined) }],
]);

/** The credentials of a cloud, found by its own library on this machine. */
export interface Signing {
  readonly cloud: Cloud;
  /** Where the address of a request names none. */
  readonly region: string | null;
}

/** The same effects, which sign by the credentials of a cloud whatever has no authorization yet. */
export function signingBy(effects: WireEffects, { cloud, region }: Signing): WireEffects {
  const { sign, secretHeaders } = signers[cloud](region);
  return {
    ...effects,
    secretHeaders,
    sign: (request) =>
      request.headers["authorization"] === undefined ? sign(request) : Promise.resolve({}),
  };
}

const signers: Readonly<
  Record<Cloud, (region: string | null) => Required<Pick<WireEffects, "sign" | "secretHeaders">>>
> = {
  aws: (region) => ({ sign: createAwsSign({ region }), secretHeaders: awsSecretHeaders }),
  google: () => ({ sign: createGoogleSign(), secretHeaders: googleSecretHeaders }),
};

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
