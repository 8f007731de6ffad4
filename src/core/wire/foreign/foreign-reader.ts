// How a protocol reads requests that others wrote: to diagnose, to replay, to forward.
import type { JsonObject } from "../../message/json-tree.ts";
import type { Lifetime } from "../../message/usage.ts";
import type { ModelFacts } from "../../models/model-facts.ts";
import type { ReadShape } from "./foreign-request.ts";

export interface ForeignReader {
  /** The member that every request has, as people are told who gave something else. */
  readonly needs: string;
  /** Whether a request that was sent there is one of this protocol. */
  isSentTo(address: RequestAddress): boolean;
  /** Whether a body could be a request of this protocol at all. */
  fits(body: JsonObject): boolean;
  /** Whether it holds something that no other protocol has. */
  hasSigns(body: JsonObject): boolean;
  /** Models that are usually asked in this protocol; null where any may be. */
  readonly usualModels: RegExp | null;
  /** What other programs call this protocol. */
  readonly otherNames: RegExp;
  /** The model as the client spells it; empty where the request names none. */
  modelOf(request: SeenRequest): string;
  /** Fields that are strange or unknown are no errors; a body that does not fit may be one. */
  read(body: JsonObject, model: ModelAbilities | undefined): ReadShape;
  /** What the provider does where a request does not say it. */
  readonly unsaid: UnsaidCaching;
  /** Whether thinking is sent back in a form whose length tells its tokens. */
  readonly showsThinking: boolean;
}

export type ModelAbilities = Pick<ModelFacts, "capabilities">;

export interface RequestAddress {
  /** A path or a whole URL; null where nobody wrote it down. */
  readonly path: string | null;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
}

/** What is known of a request that somebody sent. */
export interface SeenRequest extends RequestAddress {
  readonly body: JsonObject;
}

export interface UnsaidCaching {
  /** Whether prefixes are kept without markers. */
  readonly mode: "implicit" | "explicit";
  /** How long a marker lives that names no lifetime. */
  readonly lifetime: Lifetime;
}

export const noAddress: RequestAddress = { path: null, headers: {} };
