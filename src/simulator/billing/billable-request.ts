// What billing needs from a request: blocks, markers, settings and a time. No HTTP, no clock.
import type { RequestChange } from "../../core/models/invalidation.ts";
import type { ModelFacts } from "../../core/models/model-facts.ts";
import type { BillableBlock } from "./billable-block.ts";
import type { GrowingPrompt } from "./growing-prompt.ts";

/** How long a written prefix is kept, in the providers' names. */
export type Lifetime = ModelFacts["cache"]["lifetimes"][number]["lifetime"];

export interface BillableMarker {
  /** Index of the marked block. */
  readonly block: number;
  readonly lifetime: Lifetime;
  /** `automatic`: placed by the provider for a request-level marker. */
  readonly origin: "explicit" | "automatic";
}

export interface BillableRequest {
  readonly id: string;
  /** Requests of one workspace share entries. A hash of the API key, never the key. */
  readonly workspace: string;
  readonly model: Pick<ModelFacts, "id" | "route" | "cache">;
  readonly blocks: readonly BillableBlock[];
  /** Keys and sums of exactly these blocks, if the caller keeps them as the prompt grows. */
  readonly prompt?: GrowingPrompt;
  /** In block order and valid by the provider's rules. */
  readonly markers: readonly BillableMarker[];
  /** "implicit": the provider may end a prefix at a place without a marker. */
  readonly mode: "implicit" | "explicit";
  /** The lifetime of automatic writes. Default: the shortest. */
  readonly implicitLifetime?: Lifetime;
  /** Settings that can invalidate a prefix. Normalised: an explicit default counts as absent. */
  readonly settings: Readonly<Partial<Record<RequestChange, string>>>;
  readonly startMs: number;
}
