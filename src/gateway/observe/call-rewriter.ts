// Lets observed calls be sent with other markers. Without a rewriter they are only observed.
import type { CachePlan } from "../../core/cache/cache-plan.ts";
import type { Usage } from "../../core/message/usage.ts";
import type { ModelFacts } from "../../core/models/model-facts.ts";
import type { RepairName } from "../../core/wire/foreign/foreign-reader.ts";
import type { ForeignBlock, ForeignRequest } from "../../core/wire/foreign/foreign-request.ts";
import type { ExchangeStart } from "../exchange.ts";
import type { Arm } from "../../core/ledger/gateway-call.ts";
import type { CallMarks } from "./client-marks.ts";
import type { Conversation } from "./conversation.ts";
import type { Found } from "./find-conversation.ts";
import type { ReadDocument } from "./read-body.ts";

export interface CallRewriter {
  /** Whether calls such as this one may be sent with other markers. Then their bodies are kept until they are whole. */
  wants(start: ExchangeStart, marks: CallMarks): boolean;
  /** How long a call may wait for another one; 0 for not at all. */
  readonly waitMsMax: number;
  /** Before its conversation is looked up, from the request alone. Null for the client's own body. */
  repair(call: CallToRepair): Repaired | null;
  /** Before a call is sent. May throw; then it is sent as it is. */
  prepare(call: CallToSend & { readonly isUnsure: boolean }): SentCall;
  /** After its reply. `found` is the conversation that the call belongs to. */
  learn(answered: AnsweredCall): Comparison;
  /** What was learned of a conversation, to be spelled later with the blocks of its latest call; null for nothing. */
  save(conversation: Conversation): ((blocks: readonly ForeignBlock[]) => unknown) | null;
  /** Goes on from what another gateway learned. `saved` is as it was spelled. */
  restore(conversation: Conversation, saved: unknown, blocks: readonly ForeignBlock[]): void;
  /** Learns from another conversation, which begins with the same tools and system text as these blocks. */
  joinHead(saved: unknown, of: HeadOf): void;
}

export interface HeadOf {
  readonly tenant: string;
  readonly conversationId: string;
  readonly blocks: readonly ForeignBlock[];
  readonly endedMs: number;
}

export interface CallToRepair {
  readonly start: ExchangeStart;
  /** With the names in the body. */
  readonly marks: CallMarks;
  readonly document: ReadDocument;
  /** Reads other bytes as the body of this call. Null if they cannot be read. */
  readonly read: (pieces: readonly Uint8Array[]) => ReadDocument | null;
}

export interface Repaired {
  readonly pieces: readonly Uint8Array[];
  readonly document: ReadDocument;
  readonly repairs: readonly RepairName[];
}

export interface CallToSend {
  readonly start: ExchangeStart;
  readonly tenant: string;
  readonly marks: CallMarks;
  /** As it is sent, but for markers. */
  readonly document: ReadDocument;
  readonly found: Found;
  /** Null for a model that is not listed. */
  readonly facts: ModelFacts | null;
}

export interface SentCall {
  readonly arm: Arm;
  /** As it is sent: with the markers that are in the bytes. */
  readonly request: ForeignRequest;
  /** The body as it is sent; null for the client's own. */
  readonly pieces: readonly Uint8Array[] | null;
  /** Our markers in it; null for the client's. */
  readonly plan: CachePlan | null;
  /** The earlier reply with which the provider was asked to compare it; absent if it was not. */
  readonly comparesWith?: string;
  /** Set for a call that others like it may wait for, or that waits for one. */
  readonly turn?: {
    /** Null if it need not wait. */
    readonly mayGo: Promise<void> | null;
    /** Its answer has begun, or will not come. */
    begun(): void;
  };
}

export interface AnsweredCall extends CallToSend {
  readonly sent: SentCall;
  /** Null if the provider reported none. */
  readonly usage: Usage | null;
  readonly reportsCache: boolean;
  readonly costPicoUsd: bigint | null;
}

/** What the call would have cost with the client's own markers; null if it is not known. */
export interface Comparison {
  readonly clientCostPicoUsd: bigint | null;
}
