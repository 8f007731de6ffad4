// A call of another program that passed through the gateway: no content, only hashes, sizes, usage, cost and the verdict.
import type { BlockKind, PromptRole } from "../assembly/prompt-block.ts";
import type { PolicyName } from "../cache/policy.ts";
import type { TierSizes } from "../cache/tier-usage.ts";
import type { ProviderDiagnosis } from "../diagnosis/provider-diagnosis.ts";
import type { Explanation } from "../diagnosis/explanation.ts";
import type { ContentHash } from "../hash.ts";
import type { Lifetime, Usage } from "../message/usage.ts";
import type { Tier } from "../tokens/budget.ts";
import type { PricedOtherwise } from "../models/service-tiers.ts";
import type { ProviderFailure } from "../wire/failure.ts";
import type { AskedSettings } from "../wire/foreign/asked-settings.ts";
import type { RepairName } from "../wire/foreign/foreign-reader.ts";
import type { ReplyStop } from "../wire/reply.ts";

export interface GatewayCall extends PricedOtherwise {
  /** The exchange's id. Unique within its conversation, also over restarts: the ledger stores each once. */
  readonly id: string;
  readonly conversation: Conversation;
  readonly startMs: number;
  readonly firstByteMs: number | null;
  readonly endMs: number;
  readonly upstream: string;
  /** A hash of the credentials. Empty if the request has none. */
  readonly account: string;
  /** The names of the gateway's own key, if it was given one. */
  readonly gatewayKey?: string | null;
  readonly user?: string | null;
  readonly team?: string | null;
  readonly protocol: string;
  /** The client's spelling. */
  readonly model: string;
  /** The id in our facts; null for a model that is not listed. Then there is no cost and no expectation. */
  readonly factsId: string | null;
  readonly provider: string;
  /** Who placed the markers: `client` by default, a policy where the gateway did. */
  readonly policy?: MarkedBy;
  /** Which of the compared ways its conversation goes; absent where nothing is compared. */
  readonly arm?: Arm;
  /** What it would have cost with the client's own markers, by the account of its conversation; null if unknown. */
  readonly clientCostPicoUsd?: bigint | null;
  /** Set for a call that the gateway made itself, to keep or write a cache; no client sent it. */
  readonly purpose?: "keep_warm" | "prewarm";
  /** What the provider said about its cache, where it was asked, beside the explanation. */
  readonly diagnosis?: ProviderDiagnosis;
  /** How the client's bytes were changed besides markers; absent if they were not. */
  readonly repairs?: readonly RepairName[];
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
  /** Null where there is nothing to compare, such as without usage. A ledger keeps no text of its block. */
  readonly explanation: Explanation | null;
  /** How many blocks of the call before it begins with. */
  readonly keptBlocks: number;
  /** The blocks after those. */
  readonly addedBlocks: readonly ConversationBlock[];
  readonly markers: readonly ConversationMarker[];
  /** The whole prompt by tier, by our count. Absent if it was not counted. */
  readonly tiers?: TierSizes;
  /** What this call's prompt would have cost under other policies, by their own account of the conversation. */
  readonly otherPolicies: readonly { readonly policy: PolicyName; readonly costPicoUsd: bigint }[];
  readonly requestBytes: number;
  readonly responseBytes: number;
  /** What could not be read or was left out, in words. */
  readonly notes: readonly string[];
  /** What only traces tell of it; a ledger keeps none of it. */
  readonly wire?: CallWire;
}

export interface CallWire {
  /** Where the upstream answers, such as https://api.example.com; null if it is not known. */
  readonly origin: string | null;
  /** The client's trace, as its headers name it; null if they name none. */
  readonly trace: { readonly parent: string; readonly state: string | null } | null;
  readonly asked: AskedSettings;
}

/** `strata`: our markers where they cost less. `holdout`: left as it is, to compare. `client`: not chosen. */
export type Arm = (typeof arms)[number];

export const arms = ["client", "strata", "holdout"] as const;

export type MarkedBy = PolicyName | "client";

/** In the ledger it is a session of the origin `gateway`: it has no turns and cannot be run. */
export interface Conversation {
  readonly id: string;
  /** The conversation that started this one as a sub-agent. */
  readonly parentId: string | null;
  readonly kind: ConversationKind;
  /** The client program, such as `claude-code`; `unknown` if no sign of one was found. */
  readonly client: string;
  /** The client's own name for its session, if it sends one. */
  readonly clientSession: string | null;
  /** From 1. */
  readonly callNumber: number;
}

export const conversationKinds = [
  "conversation",
  "sub-agent",
  "title",
  "summary",
  "single",
] as const;

export type ConversationKind = (typeof conversationKinds)[number];

export interface ConversationBlock {
  readonly hash: ContentHash;
  readonly tier: Tier;
  readonly kind: BlockKind;
  readonly role: PromptRole;
  /** For people, such as `tool Bash` or `user message 12`. */
  readonly section: string;
  readonly tokens: number;
}

export interface ConversationMarker {
  /** Index in the whole list of blocks. */
  readonly block: number;
  readonly lifetime: Lifetime;
}

/** What became of a batch. Every call is in one of the counts. */
export interface RecordedCalls {
  readonly recordedCount: number;
  /** Calls that the ledger had already. */
  readonly repeatedCount: number;
  /** Calls that can never be stored as they are. */
  readonly refused: readonly { readonly id: string; readonly reason: string }[];
}

/** The prompt of one call. */
export interface ConversationPrompt {
  /** How many blocks at its beginning are unknown, because the calls that brought them were not recorded. */
  readonly unknownCount: number;
  /** The blocks after those. */
  readonly blocks: readonly ConversationBlock[];
}

/** What the calls of one of the gateway's own keys have cost. */
export interface KeySpending {
  readonly gatewayKey: string;
  readonly dayPicoUsd: bigint;
  readonly monthPicoUsd: bigint;
  readonly totalPicoUsd: bigint;
}

/** A call by which a gateway kept a cache warm. */
export interface WarmingCost {
  readonly callId: string;
  /** Null if it is not known. */
  readonly costPicoUsd: bigint | null;
}

/** When the day and the month of such sums began: midnights in UTC. */
export interface SpendingSince {
  readonly dayMs: number;
  readonly monthMs: number;
}

/** A gateway's process, from its start to its end. */
export interface GatewayRun {
  readonly id: string;
  readonly startedMs: number;
  /** When it last said that it runs and has written everything. */
  readonly beatMs: number;
  /** Null while it runs. */
  readonly endedMs: number | null;
  /** `killed` if it never said that it ends: what it saw after `beatMs` may be missing. */
  readonly ending: "running" | "closed" | "killed";
  /** Calls that it could not record. */
  readonly lostCount: number;
}

/** The own run of a gateway. It says now and then that it goes on. */
export interface OpenGatewayRun {
  readonly id: string;
  /**
   * Everything that was seen so far is written, or counted as lost. Returns runs of other processes that were found dead,
   * each once over all gateways of the ledger.
   */
  beat(lostCount: number): Promise<readonly GatewayRun[]>;
  /** The clean end. */
  end(lostCount: number): Promise<void>;
}
