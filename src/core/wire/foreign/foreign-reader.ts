// How a protocol reads other clients' requests, for diagnosis, replay and the gateway.
import type { CachePlan } from "../../cache/cache-plan.ts";
import type { Fields } from "../../message/fields.ts";
import type { JsonObject } from "../../message/json-tree.ts";
import type { JsonText } from "../../message/message.ts";
import type { Lifetime } from "../../message/usage.ts";
import type { ModelFacts } from "../../models/model-facts.ts";
import type { BlockDraft, ReadShape } from "./foreign-request.ts";
import type { GrowingReader } from "./growing-reader.ts";

export interface ForeignReader {
  /** The member that every request has. Error hints name it. */
  readonly needs: string;
  /** Whether requests to this address use this protocol. */
  isSentTo(address: RequestAddress): boolean;
  /** Whether a body could be a request of this protocol at all. */
  fits(body: JsonObject): boolean;
  /** Whether the body has something that no other protocol has. */
  hasSigns(body: JsonObject): boolean;
  /** Model names that suggest this protocol; null if any model may use it. */
  readonly usualModels: RegExp | null;
  /** Matches the names that other programs use for this protocol. */
  readonly otherNames: RegExp;
  /** The client's spelling of the model; empty if the request names none. */
  modelOf(request: SeenRequest): string;
  /** The members with the longest answer that a client takes, such as `a.b`. */
  readonly outputLimits: readonly string[];
  /** What the body calls its conversation; absent if the protocol has no such members. */
  namesIn?(body: JsonObject): RequestNames;
  /** Accepts strange and unknown fields. May throw for a body that does not fit. */
  read(body: JsonObject, model: ModelAbilities | undefined): ReadShape;
  /** Reads the same piece by piece; absent if the protocol's requests are always read whole. */
  readonly growing?: GrowingReader;
  /** Text that clients add for one vendor, whose own API takes it out of the prompt; every other upstream reads it as text. */
  readonly vendorText?: VendorText;
  /** The defaults for a request without cache settings. */
  readonly cacheDefaults: CacheDefaults;
  /** Whether the length of a thinking block gives its tokens. Sealed reasoning does not. */
  readonly showsThinking: boolean;
  /** How a plan is written into another client's body; absent if the protocol takes no markers. */
  readonly marking?: ForeignMarking;
  /** What repairs of another client's body must know; absent if it cannot be repaired. */
  readonly repairing?: ForeignRepairing;
  /** How a body is changed so that its prompt is cached and not answered; absent if the protocol cannot. */
  readonly warming?: ForeignWarming;
  /** The member that asks the vendor why its cache missed against an earlier reply of the same client, null for none yet; absent if there is none. */
  toDiagnosis?(previousReplyId: string | null): readonly [name: string, json: JsonText];
}

export interface VendorText {
  /** The vendor's name. */
  readonly vendor: string;
  isIn(draft: Pick<BlockDraft, "tier" | "text">): boolean;
}

/** Ids that clients and providers give to what a request belongs to. */
export interface RequestNames {
  /** The client's session, as it says in the body itself. */
  readonly session: string | null;
  /** A key under which the client keeps calls together; several conversations may share it. */
  readonly cacheKey: string | null;
  /** The provider's id of the reply that the request goes on from, if the provider keeps the history. */
  readonly continues: string | null;
}

export interface ForeignMarking {
  /** A marker is a block of its own after the block that it ends, and no member of it. */
  readonly standsAlone?: true;
  /** The members that are markers. */
  readonly names: readonly string[];
  /** Members of the body by which a client settles the caching itself. */
  readonly settings: readonly string[];
  /** Members of the body for which the provider keeps a marker of its own. */
  readonly takesSlot: readonly string[];
  /** The body with a list in place of a plain text that no part of a list can stand for; absent if there is none. */
  open?(body: Fields): Fields;
  /** A plain text as a part that can carry a marker. */
  toPart(text: string): Fields;
  words(plan: CachePlan, model: ModelFacts): MarkWords;
}

/** Changes that make more requests begin alike and mean the same. */
export const repairNames = [
  "sort_tools",
  "canonical_schemas",
  "volatile_to_tail",
  "drop_attribution",
] as const;

export type RepairName = (typeof repairNames)[number];

export interface ForeignRepairing {
  /** The member with the list of tools. */
  readonly tools: string;
  /** Within a tool: the paths of its name and of the schema of its input. */
  readonly toolName: readonly string[];
  readonly toolSchema: readonly string[];
  /** A text behind all messages, as an element of their list. Absent if it is a part of the user's last message. */
  toElement?(text: JsonText): JsonText;
}

export interface ForeignWarming {
  /** Members with other values; `always` also where the body has none of that name. */
  readonly members: readonly {
    readonly name: string;
    readonly json: JsonText;
    readonly always: boolean;
  }[];
  /** What in the body forbids it; null if nothing does. */
  findObstacle(body: JsonObject): string | null;
  /** The shortest list of messages, which no marker covers. */
  readonly placeholder: JsonText;
}

/** Members by name, with their JSON. */
export interface MarkWords {
  readonly toMarker: (lifetime: Lifetime) => readonly [name: string, json: JsonText];
  /** Members for the whole request. */
  readonly members: readonly (readonly [name: string, json: JsonText])[];
}

export type ModelAbilities = Pick<ModelFacts, "capabilities">;

export interface RequestAddress {
  /** A path or a full URL; null if unknown. */
  readonly path: string | null;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
}

/** A request as a log or a gateway sees it. */
export interface SeenRequest extends RequestAddress {
  readonly body: JsonObject;
}

export interface CacheDefaults {
  /** `implicit`: the provider keeps prefixes without markers, too. */
  readonly mode: "implicit" | "explicit";
  /** The lifetime of a marker that names none. */
  readonly lifetime: Lifetime;
}

export const noAddress: RequestAddress = { path: null, headers: {} };
