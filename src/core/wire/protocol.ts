// Assembly + plan ⇄ provider JSON; one folder per protocol, each exporting one of these.
import type { Assembly } from "../assembly/assemble.ts";
import type { Spelling } from "../assembly/spelling.ts";
import type { CachePlan } from "../cache/cache-plan.ts";
import type { Fields } from "../message/fields.ts";
import type { JsonText, Message } from "../message/message.ts";
import type { ModelFacts } from "../models/model-facts.ts";
import type { ProtocolAccess } from "./access.ts";
import type { EncodedRequest } from "./encoded-request.ts";
import type { ProviderFailure } from "./failure.ts";
import type { ForeignReader } from "./foreign/foreign-reader.ts";
import type { EncodedRefusal, RefusalToEncode } from "./refusal.ts";
import type { Reply, ReportedUsage, StreamPart } from "./reply.ts";

/** `Body`: the type of its requests. */
export interface Protocol<Name extends string = string, Body = unknown> {
  /** Stored with sessions and written into reports: it never changes. */
  readonly name: Name;
  /** For people to read. */
  readonly title: string;
  /** What OpenTelemetry calls a call in it; `chat` by default. */
  readonly operation?: "generate_content";
  readonly access: ProtocolAccess;
  /** The path of a call, after the provider's base URL. The encoded request carries the same path. */
  path(call: CallPlace): string;
  /** Whether it can ask a provider to keep a prefix. */
  readonly writesMarkers: boolean;
  spelling(model: ModelFacts): Spelling;
  encode(call: CallToEncode): EncodedRequest<Body>;
  /** A whole reply in one answer. */
  decode(body: string): Reply | ProviderFailure;
  readonly stream: StreamDecoder;
  /**
   * Matches the data of every event of a stream that says more than a piece of text: ids, usage, why it ended, a failure. The first
   * event needs no match. For watchers that keep no text; absent if every event may say such things.
   */
  readonly tellingEvents?: RegExp;
  /** What a refused request's answer means. */
  readFailure(answer: RefusedAnswer): ProviderFailure;
  /** How its provider would refuse a client, for a gateway that does so itself. */
  encodeRefusal(refusal: RefusalToEncode): EncodedRefusal;
  /** The usage in a whole answer or in one event of a stream; undefined if there is none. */
  findUsage(answer: Fields): unknown;
  readUsage(usage: unknown): ReportedUsage;
  readonly foreign: ForeignReader;
  /** Names the effects it needs besides a POST with a key (edge/providers/wire-effects.ts); absent for none. */
  readonly effects?: string;
  /** How to ask a provider to count tokens; absent if the protocol cannot. */
  readonly counting?: ProtocolCounting;
  /** Whether a call may begin with a prefix that the provider keeps under a name; absent if it may not. */
  readonly takesStoredPrefix?: true;
  /** How to have a provider keep a prefix under a name; absent if the protocol cannot. */
  readonly storing?: ProtocolStoring;
  /** The member of a request that asks why the cache missed; absent if there is none. The model's facts say where it is taken. */
  readonly diagnosisMember?: string;
  /** How to ask a provider to compact a conversation itself; absent if the protocol cannot. */
  readonly compaction?: ProtocolCompaction;
  /** How to have a prompt cached without a reply; absent if the protocol cannot. */
  readonly prewarm?: ProtocolPrewarm;
}

/** A call that is billed and cached like another one and generates nothing. The model's facts say whether its route has it. */
export interface ProtocolPrewarm {
  /** What in the call forbids it: without it, another prefix would be cached. Null if nothing does. */
  findObstacle(call: CallToEncode): string | null;
  /** Never asks for a stream. */
  encode(call: CallToEncode): EncodedRequest;
}

/** Prefixes that a provider keeps as resources of their own. Model facts say what keeping them costs. */
export interface ProtocolStoring {
  /** The same below a base URL with this path, which may name the project that such prefixes belong to. */
  at(basePath: string): ProtocolStoring;
  /** What in a call forbids it to begin with a stored prefix, or to have one made; null if nothing does. */
  findObstacle(call: Pick<CallToEncode, "model" | "options">): string | null;
  /** Whether this refusal of a call may mean that the provider does not have its stored prefix any more. */
  mayBeGone(failure: ProviderFailure): boolean;
  encodeCreate(prefix: PrefixToStore): EncodedRequest;
  /** Keeps it until so many seconds from now. */
  encodeExtend(name: string, seconds: number): EncodedRequest;
  encodeDelete(name: string): EncodedRequest;
  /** A page of all that the key's owner stores; null for the first. */
  encodeList(pageToken: string | null): EncodedRequest;
  /** The answer to a creation or an extension; null if it is none. */
  decodeStored(body: string): StoredResource | null;
  decodeList(body: string): StoredPage | null;
}

/** The beginning of a prompt that is to be stored, and the label by which its owner finds it again. */
export interface PrefixToStore extends Pick<CallToEncode, "assembly" | "model" | "options"> {
  /** As in `StoredPrefix`. */
  readonly blocks: number;
  readonly seconds: number;
  readonly label: string;
}

/** What a provider says about a stored prefix. */
export interface StoredResource {
  readonly name: string;
  /** Null if its owner gave it none. */
  readonly label: string | null;
  /** Null if the provider does not say. */
  readonly tokens: number | null;
  readonly createdMs: number | null;
  readonly expiresMs: number | null;
}

export interface StoredPage {
  readonly resources: readonly StoredResource[];
  /** Null after the last page. */
  readonly nextPageToken: string | null;
}

export interface ProtocolCounting {
  /** Its name in the configuration and on every count. */
  readonly name: string;
  /** Whether a request to this path or URL only asks for a count. */
  isAskedAt(path: string): boolean;
  /** Takes a request for a reply. */
  encode(request: EncodedRequest): EncodedRequest;
  /** The tokens in an answer; null if it has no count. */
  decode(body: string): number | null;
}

/** The provider's own compaction. The model's facts say whether the model has it on its route. */
export interface ProtocolCompaction {
  readonly canStream: boolean;
  /** The call option that forbids it; null if none does. */
  findObstacle(options: CallOptions): string | null;
  /** Whether its request begins with the same bytes as calls with these options. */
  keepsPrefix(call: Pick<CallToEncode, "assembly" | "options">): boolean;
  encode(call: CompactionToEncode): EncodedRequest;
  /** A whole answer that is no stream. */
  decode(body: string): Reply | ProviderFailure;
  /** The messages that replace the conversation, verbatim; empty if the reply has no compaction. */
  messagesIn(reply: Reply): readonly Message[];
}

/** Some protocols put these into the path. */
export interface CallPlace {
  /** As the provider spells it. */
  readonly model: string;
  readonly stream: boolean;
}

/** One event of a stream: its name, where it has one, and its data as text. */
export interface ServerEvent {
  readonly event: string | undefined;
  readonly data: string;
}

/** Reads a stream event by event. All data is in the state. */
export interface StreamDecoder<State = unknown> {
  readonly start: State;
  step(state: State, event: ServerEvent): readonly [State, readonly StreamPart[]];
  /** The reply so far. A stream that was cut gives what arrived, marked as partial. */
  finish(state: State): Reply | ProviderFailure;
}

export interface RefusedAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** For `retry-after` given as a date. */
  readonly nowMs: number;
}

export interface CallToEncode {
  readonly assembly: Assembly;
  readonly plan: CachePlan;
  readonly model: ModelFacts;
  readonly options: CallOptions;
  /** What the provider keeps under a name and the call does not repeat. Only a protocol that `takesStoredPrefix` writes it. */
  readonly storedPrefix?: StoredPrefix;
  /** The provider's id of the reply before, for its diagnosis; null if it is not known. Absent where none is wanted. */
  readonly previousReplyId?: string | null;
  /** Asks the provider why its cache missed against that reply. */
  readonly diagnose?: boolean;
}

/** The beginning of a prompt that a provider keeps as a resource of its own. */
export interface StoredPrefix {
  /** The provider's name for it. */
  readonly name: string;
  /** How many blocks of the assembly it holds: tools and system text at least. It ends between two messages. */
  readonly blocks: number;
}

export interface CompactionToEncode extends CallToEncode {
  /** Instructions that replace the provider's own, if it takes any. */
  readonly instructions?: string;
}

/** The options of a call. */
export interface CallOptions {
  /** The provider's spelling of the model; the facts' id by default. */
  readonly modelName?: string;
  readonly outputTokensMax: number;
  readonly stream: boolean;
  readonly temperature?: number;
  readonly stopSequences?: readonly string[];
  readonly toolChoice?: "auto" | "none" | "any" | { readonly name: string };
  readonly parallelToolUse?: boolean;
  /** How hard the model thinks, if it takes this option. */
  readonly effort?: string;
  /** Thinking settings in the provider's own spelling. */
  readonly thinkingJson?: JsonText;
  /** A JSON Schema that the reply must follow. */
  readonly outputSchemaJson?: JsonText;
  /** Beta features by the provider's names, sent in a header. */
  readonly betas?: readonly string[];
  /** Further members of the body, in the provider's own spelling. */
  readonly extraJson?: Readonly<Record<string, JsonText>>;
}
