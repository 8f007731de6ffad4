// What every fold over events has at hand.
import type { EventType } from "../../core/events/event-catalogue.ts";
import type { PricedModel } from "../../core/models/cost.ts";
import type { BoundedLabel } from "./bounded-label.ts";
import type { Instruments } from "./instruments.ts";
import type { Pending } from "./pending.ts";

export interface FoldContext extends Pick<Instruments, "add" | "set" | "shift" | "note"> {
  readonly agentOf: (event: { readonly sessionId: string }) => string;
  readonly labels: Readonly<Record<LabelName, BoundedLabel>>;
  /** Null where no price is known. */
  readonly priceOf: (model: string, provider: string) => PricedModel | null;
  /** Estimated tokens of calls under way, by the id of their `llm.call_started`. */
  readonly estimates: Pending<number>;
  /** Names of tools under way, by session and tool use. */
  readonly tools: Pending<string>;
  /** What was sent so far, by agent as shown. */
  readonly prompts: Map<string, PromptSums>;
  /** An event that could not be counted in full. */
  readonly unread: (type: EventType) => void;
}

/** Labels whose values come from outside; all others have closed lists. */
export type LabelName = "agent" | "provider" | "model" | "tool" | "path";

export interface PromptSums {
  readonly readTokens: number;
  readonly writtenTokens: number;
  readonly uncachedTokens: number;
}
