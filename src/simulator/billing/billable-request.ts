// What billing needs from a request: blocks, markers, settings and a time. No HTTP, no clock.
import type { RequestChange } from "../../core/models/invalidation.ts";
import type { ModelFacts } from "../../core/models/model-facts.ts";

/** How long a written prefix is kept, in the providers' names. */
export type Lifetime = ModelFacts["cache"]["lifetimes"][number]["lifetime"];

export type BilledTier = "tools" | "system" | "messages";

/** One piece of the rendered prompt, in rendering order. */
export interface BillableBlock {
  /** Equal hashes mean equal rendered bytes. */
  readonly hash: string;
  readonly tokens: number;
  readonly tier: BilledTier;
  /** Consecutive blocks of the same kind can count as one position. */
  readonly run: "tool_use" | "tool_result" | null;
  /** A place where a provider with automatic caching may end a prefix. */
  readonly boundary: "eligible message" | "initial group" | null;
}

export interface BillableMarker {
  readonly block: number;
  readonly lifetime: Lifetime;
  /** `automatic`: placed by the provider for a request-level marker. */
  readonly origin: "explicit" | "automatic";
}

/** What the keys of a request's prefixes depend on besides the blocks. */
export interface KeyFrame {
  /** Requests of one workspace share entries. A hash of the API key, never the key. */
  readonly workspace: string;
  /** Who answers, where a router has several hosts: each keeps its own entries. */
  readonly host?: string;
  readonly model: Pick<ModelFacts, "id" | "route" | "cache">;
  /** Settings that can invalidate a prefix. Normalised: an explicit default counts as absent. */
  readonly settings: Readonly<Partial<Record<RequestChange, string>>>;
}

/** A prompt's blocks with what billing computes from each. Parallel lists with one value per block. */
export interface KeyedPrompt {
  readonly blocks: readonly BillableBlock[];
  /** The key of the prefix that ends with each block. Equal keys mean equal prefixes. */
  readonly keys: readonly string[];
  /** Tokens up to and including each block. */
  readonly cumulative: readonly number[];
  /** Lookback position of each block; its index if the provider does not count positions. */
  readonly positions: readonly number[];
}

export interface BillableRequest extends KeyFrame {
  readonly id: string;
  readonly blocks: readonly BillableBlock[];
  /** Keys and sums of exactly these blocks, if the caller keeps them as the prompt grows. */
  readonly prompt?: KeyedPrompt;
  /** In block order and valid by the provider's rules. */
  readonly markers: readonly BillableMarker[];
  /** "implicit": the provider may end a prefix at a place without a marker. */
  readonly mode: "implicit" | "explicit";
  /** The lifetime of automatic writes. Default: the shortest. */
  readonly implicitLifetime?: Lifetime;
  /** The name of a stored prefix that the prompt begins with. Then it reads that, and nothing else. */
  readonly stored?: string;
  /** What the provider keeps of a prompt without markers, where the model's facts are not enough to bill it. */
  readonly keeping?: Keeping;
  readonly startMs: number;
}

/** What a provider keeps without being asked. */
export interface Keeping {
  /**
   * Where a prefix that is read can end. `prefix units`: at the end of a request's input, and where two requests were found to
   * differ. `slots`: anywhere, but each slot holds the latest prompt alone.
   */
  readonly boundary: "every step" | "ends of messages" | "prefix units" | "slots";
  /** Reads are whole multiples of it. */
  readonly stepTokens: number;
  readonly minimumTokens: number;
  /** Since the last use. Null: until its slot is used for another prompt, or as long as the server runs. */
  readonly keptSeconds: number | null;
  /** For `slots`. */
  readonly slots: number;
}
