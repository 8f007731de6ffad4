// What a provider answered, the same for every protocol.
import type { PayloadOf } from "../events/event.ts";
import type { Message } from "../message/message.ts";
import type { Lifetime, Usage } from "../message/usage.ts";
import type { ProviderFailure } from "./failure.ts";

export interface Reply {
  readonly kind: "reply";
  /** The provider's id of this reply; empty if it gave none. */
  readonly id: string;
  readonly model: string;
  /** The reply's message. A block is verbatim if our own spelling would differ. */
  readonly message: Message;
  readonly stopReason: ReplyStop;
  readonly usage: ReportedUsage;
  /** `partial`: the stream ended before the reply did; what arrived is here. */
  readonly status: "complete" | "partial";
  /** Set if the provider reported a failure in the middle of the stream. */
  readonly failure?: ProviderFailure;
  /** What the provider found when it compared the prompt with the one before, in its own words. Absent if it found nothing, or was not asked. */
  readonly diagnosis?: string;
  /** The host that answered, if a router says which one. */
  readonly servedBy?: string;
  /** Changes that the provider made to the request, such as dropping a thinking block. */
  readonly transformations: readonly string[];
}

export type ReplyStop = PayloadOf<"llm.call_completed">["stop_reason"];

export interface ReportedUsage {
  readonly usage: Usage;
  /** False if the provider sent no counts, as in a cut stream: the zeros are then not a bill. */
  readonly isReported: boolean;
  /** False if the provider reported nothing about its cache: reads and writes are then unknown, not zero. */
  readonly reportsCache: boolean;
  /** Corrections of the counts, such as a remainder below zero. */
  readonly warnings: readonly string[];
  /** Written tokens without a lifetime, and the one under which they stand in `usage` until the plan names theirs. */
  readonly unnamedWriteTokens?: { readonly tokens: number; readonly standsAs: Lifetime };
  /** The provider's word for a service that is not its usual one, such as a faster or a cheaper one. */
  readonly serviceTier?: string;
  /** What the provider says that it charges. */
  readonly costPicoUsd?: bigint;
  /** How long the server read the part of the prompt that it did not have, if it or the transport says so. Local servers cost time, not money. */
  readonly prefillMs?: number;
  /** The counts as text, and why they cannot be true. They are not in `usage` then. */
  readonly refused?: string;
}

/** A part of a streamed reply. A turn's parts use the same words. */
export type StreamPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "thinking"; readonly text: string }
  /** A tool use begins. */
  | { readonly type: "tool"; readonly toolUseId: string; readonly name: string }
  /** More of a tool use's input, as JSON text. */
  | { readonly type: "tool-input"; readonly toolUseId: string; readonly json: string };
