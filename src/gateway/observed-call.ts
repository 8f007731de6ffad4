// What the gateway knows of a call after it: no content, only hashes, sizes, usage, cost and the verdict.
import type { BlockKind, PromptRole } from "../core/assembly/prompt-block.ts";
import type { PolicyName } from "../core/cache/policy.ts";
import type { Explanation } from "../core/diagnosis/explanation.ts";
import type { ContentHash } from "../core/hash.ts";
import type { Lifetime, Usage } from "../core/message/usage.ts";
import type { Tier } from "../core/tokens/budget.ts";
import type { ProviderFailure } from "../core/wire/failure.ts";
import type { ReplyStop } from "../core/wire/reply.ts";

export interface ObservedCall {
  /** The exchange's id. */
  readonly id: string;
  readonly conversation: ConversationName;
  readonly startMs: number;
  readonly firstByteMs: number | null;
  readonly endMs: number;
  readonly upstream: string;
  readonly account: string;
  readonly protocol: string;
  /** The client's spelling. */
  readonly model: string;
  /** The id in our facts; null for a model that is not listed. Then there is no cost and no expectation. */
  readonly factsId: string | null;
  readonly provider: string;
  readonly status: "complete" | "partial" | "failed";
  readonly stopReason: ReplyStop | null;
  readonly failure: ProviderFailure | null;
  /** The provider's id of the reply; empty if it gave none. */
  readonly replyId: string;
  readonly servedBy: string | null;
  /** Null if the provider reported none, as for a request that was refused. */
  readonly usage: Usage | null;
  /** False if the provider said nothing about its cache: reads and writes are then unknown, not zero. */
  readonly reportsCache: boolean;
  /** Null without usage or price. */
  readonly costPicoUsd: bigint | null;
  /** The same call without any caching. */
  readonly plainCostPicoUsd: bigint | null;
  /** Null where there is nothing to compare, such as without usage. */
  readonly explanation: Explanation | null;
  /** How many blocks of the call before it begins with. */
  readonly keptBlocks: number;
  /** The blocks after those. */
  readonly addedBlocks: readonly ObservedBlock[];
  readonly markers: readonly ObservedMarker[];
  /** What this call's prompt would have cost under other policies, by their own account of the conversation. */
  readonly otherPolicies: readonly { readonly policy: PolicyName; readonly costPicoUsd: bigint }[];
  readonly requestBytes: number;
  readonly responseBytes: number;
  /** What could not be read or was left out, in words. */
  readonly notes: readonly string[];
}

export interface ConversationName {
  readonly id: string;
  /** The conversation that started this one as a sub-agent. */
  readonly parentId: string | null;
  readonly kind: "conversation" | "sub-agent" | "title" | "summary" | "single";
  /** The client program, such as `claude-code`; `unknown` if no sign of one was found. */
  readonly client: string;
  /** The client's own name for its session, if it sends one. */
  readonly clientSession: string | null;
  /** From 1. */
  readonly callNumber: number;
}

export interface ObservedBlock {
  readonly hash: ContentHash;
  readonly tier: Tier;
  readonly kind: BlockKind;
  readonly role: PromptRole;
  /** For people, such as `tool Bash` or `user message 12`. */
  readonly section: string;
  readonly tokens: number;
}

export interface ObservedMarker {
  /** Index in the whole list of blocks. */
  readonly block: number;
  readonly lifetime: Lifetime;
}

/** Takes calls. Never throws and never makes an exchange wait. */
export interface CallSink {
  take(call: ObservedCall): void;
}
