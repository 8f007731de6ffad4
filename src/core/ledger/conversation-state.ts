// What a gateway knows of a conversation after one of its calls: for other gateways on the ledger, and after a restart.
import type { JsonText } from "../message/message.ts";

/** One per prompt that was sent. It holds hashes, names and numbers, no content. */
export interface ConversationState {
  readonly conversationId: string;
  /** Upstream and account: what is asked for one is never found for another. */
  readonly tenant: string;
  /** The key of the whole prompt. */
  readonly prefixKey: string;
  readonly callNumber: number;
  readonly endedMs: number;
  /** The key up to the first block of the messages; null without messages. */
  readonly openingKey: string | null;
  /** The key of tools and system text; null without them. */
  readonly headKey: string | null;
  /** The client's own names for its session and the agent in it; null if it sends none. */
  readonly thread: string | null;
  /** The provider's id of the reply; null if it gave none. */
  readonly replyId: string | null;
  /** In the gateway's own form. */
  readonly stateJson: JsonText;
}

/** A state that has any of these. */
export interface StateQuestion {
  readonly tenant: string;
  /** Keys of beginnings of a prompt; those above `prefixKeysMax` are not asked for. */
  readonly prefixKeys: readonly string[];
  readonly openingKey: string | null;
  readonly headKey: string | null;
  /** Those above `threadsMax` are not asked for. */
  readonly threads: readonly string[];
  readonly replyId: string | null;
  /** Those above `conversationsMax` are not asked for. */
  readonly conversationIds: readonly string[];
}

export interface SweptStates {
  readonly sweptCount: number;
  /** How many are left. */
  readonly keptCount: number;
}

export const prefixKeysMax = 32;
export const threadsMax = 4;
export const conversationsMax = 4;
