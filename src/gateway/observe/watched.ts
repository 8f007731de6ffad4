// What the observations of all exchanges share.
import type { Catalogue } from "../../core/models/catalogue.ts";
import type { Protocol } from "../../core/wire/protocol.ts";
import type { CallSink } from "../observed-call.ts";
import type { CallRewriter } from "./call-rewriter.ts";
import type { ConversationShare, Turns } from "../share/conversation-share.ts";
import type { ConversationLimits } from "./conversation-memory.ts";
import type { Conversations } from "./conversations.ts";
import type { ReplyLimits } from "./read-reply.ts";

export interface ObserveLimits extends ConversationLimits, ReplyLimits {
  /** A request that is longer after decompression is not read. */
  readonly bodyBytesMax: number;
}

/** What all exchanges share. */
export interface Watched {
  readonly sink: CallSink;
  readonly nowMs: () => number;
  readonly catalogue: Catalogue;
  readonly conversations: Conversations;
  readonly limits: ObserveLimits;
  /** Whether an upstream is the own API of the protocol's vendor. */
  readonly isVendor: (upstream: string, protocol: Protocol) => boolean;
  readonly counts: ObserveCounts;
  /** A fault after the end of an exchange, while decompressing its answer. */
  readonly onFault: (error: unknown) => void;
  /** Null if calls are only observed. */
  readonly rewriter: CallRewriter | null;
  /** Null if only this process knows its conversations. */
  readonly share: ConversationShare | null;
  /** Calls of an account are settled in the order in which they ended. */
  readonly turns: Turns;
}

export interface ObserveCounts {
  /** Bodies of model calls that could not be read. */
  unreadBodies: number;
  /** Calls that were lost after their end by a fault of the observer itself. */
  faults: number;
}
