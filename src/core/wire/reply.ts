// What a provider answered, the same for every protocol.
import type { Message } from "../message/message.ts";
import type { Usage } from "../message/usage.ts";
import type { ProviderFailure } from "./failure.ts";

export interface Reply {
  readonly kind: "reply";
  /** The provider's id of this reply; empty where it gave none. */
  readonly id: string;
  readonly model: string;
  /** What was said, every block verbatim where our own spelling would differ. */
  readonly message: Message;
  readonly stopReason: ReplyStop;
  readonly usage: ReportedUsage;
  /** `partial`: the stream ended before the reply did; what arrived is here. */
  readonly status: "complete" | "partial";
  /** Set where the provider reported a failure in the middle of the stream. */
  readonly failure?: ProviderFailure;
  /** Why the cache missed, in the provider's own words, where it tells. */
  readonly diagnosis?: string;
  /** What the provider did to the request, such as dropping a thinking block. */
  readonly transformations: readonly string[];
}

export type ReplyStop =
  | "end_turn"
  | "tool_use"
  | "max_tokens"
  | "stop_sequence"
  | "refusal"
  | "pause_turn"
  | "context_window"
  | "compaction"
  | "unknown";

export interface ReportedUsage {
  readonly usage: Usage;
  /** False where the provider sent no count at all, as in a stream that was cut: the zeros are then no bill. */
  readonly isReported: boolean;
  /** False where the provider said nothing about its cache: reads and writes are then unknown, not zero (N-15). */
  readonly tellsCache: boolean;
  /** What had to be corrected, such as a remainder below zero. */
  readonly warnings: readonly string[];
}

/** What a stream brings, as it comes. */
export type StreamPart =
  | { readonly type: "text-delta"; readonly text: string }
  | { readonly type: "thinking-delta"; readonly text: string }
  | { readonly type: "tool-use-started"; readonly id: string; readonly name: string }
  | { readonly type: "tool-input-delta"; readonly id: string; readonly json: string };
