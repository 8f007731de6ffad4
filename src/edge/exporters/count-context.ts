// What the functions that turn events into metrics share.
import type { EventType } from "../../core/events/event-catalogue.ts";
import type { PricedModel } from "../../core/models/cost.ts";
import type { BoundedLabel } from "./bounded-label.ts";
import type { Instruments } from "./instruments.ts";
import type { Pending } from "./pending.ts";

export interface CountContext extends Pick<Instruments, "add" | "set" | "shift" | "note"> {
  readonly agentOf: (event: { readonly sessionId: string }) => string;
  readonly labels: Readonly<Record<LabelName, BoundedLabel>>;
  /** Null if the price is unknown. */
  readonly priceOf: (model: string, provider: string) => PricedModel | null;
  /** Estimated tokens of running calls, by the id of their `llm.call_started`. */
  readonly estimates: Pending<number>;
  /** Names of running tools, by session and tool use. */
  readonly tools: Pending<string>;
  /** Prompt tokens so far, by the shown name of the agent. */
  readonly prompts: Map<string, PromptSums>;
  /** Counts an event that could not be counted in full. */
  readonly unread: (type: EventType) => void;
}

/** Labels whose values come from outside; all others have fixed values. */
export type LabelName = "agent" | "provider" | "model" | "tool" | "path";

export interface PromptSums {
  readonly readTokens: number;
  readonly writtenTokens: number;
  readonly uncachedTokens: number;
}
