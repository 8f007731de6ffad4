// What billing needs to know of a request: blocks, markers, settings and a time. No HTTP, no clock.
import type { RequestChange } from "../../core/models/invalidation.ts";
import type { ModelFacts } from "../../core/models/model-facts.ts";
import type { GrowingPrompt } from "./growing-prompt.ts";

/** How long a written prefix is kept; the names are the providers'. */
export type Lifetime = ModelFacts["cache"]["lifetimes"][number]["lifetime"];

export type BilledTier = "tools" | "system" | "messages";

/** One piece of the prompt as the provider renders it, in rendering order. */
export interface BillableBlock {
  /** Equal hashes mean equal rendered bytes. */
  readonly hash: string;
  readonly tokens: number;
  readonly tier: BilledTier;
  /** Consecutive blocks of one kind may count as one position. */
  readonly run: "tool_use" | "tool_result" | null;
  /** Where a provider that caches by itself may end a prefix. */
  readonly boundary: "eligible message" | "initial group" | null;
}

export interface BillableMarker {
  /** Index of the block it stands on. */
  readonly block: number;
  readonly lifetime: Lifetime;
  /** `automatic`: put there for a request-level marker, not by the client. */
  readonly origin: "explicit" | "automatic";
}

export interface BillableRequest {
  readonly id: string;
  /** Who shares entries; a hash of a key, never the key. */
  readonly workspace: string;
  readonly model: Pick<ModelFacts, "id" | "route" | "cache">;
  readonly blocks: readonly BillableBlock[];
  /** Keys and sums of these very blocks, where someone made them as the prompt grew. */
  readonly prompt?: GrowingPrompt;
  /** In block order, already found valid by the provider's own rules. */
  readonly markers: readonly BillableMarker[];
  /** Whether the provider may end a prefix where no marker stands. */
  readonly mode: "implicit" | "explicit";
  /** For what the provider writes by itself; the shortest lifetime when absent. */
  readonly implicitLifetime?: Lifetime;
  /** Everything besides blocks that can invalidate, normalised: an explicit default reads as absent. */
  readonly settings: Readonly<Partial<Record<RequestChange, string>>>;
  readonly startMs: number;
}
