// One call in the ledger: what was sent, expected, received and paid.
import type { CachePlan } from "../cache/cache-plan.ts";
import type { CachePromise } from "../cache/evidence.ts";
import type { Verdict } from "../cache/learn-from-reply.ts";
import type { PolicyName } from "../cache/policy.ts";
import type { TierSizes } from "../cache/tier-usage.ts";
import type { ProviderDiagnosis } from "../diagnosis/provider-diagnosis.ts";
import type { ContentHash } from "../hash.ts";
import type { Message } from "../message/message.ts";
import type { Usage } from "../message/usage.ts";
import type { PricedOtherwise } from "../models/service-tiers.ts";
import type { EncodeNote } from "../wire/encoded-request.ts";
import type { ProviderFailure } from "../wire/failure.ts";
import type { ReplyStop } from "../wire/reply.ts";

/** A call without its messages, which are stored once, with the turn. */
export interface CallRecord extends PricedOtherwise {
  readonly turnId: string;
  /** From 1 within the turn. */
  readonly number: number;
  readonly startMs: number;
  readonly endMs: number;
  readonly model: string;
  readonly policy: PolicyName;
  /** The key of everything that was sent and will be sent again. */
  readonly promptKey: ContentHash;
  readonly plan: CachePlan;
  /** What was sent, by tier, by our count. Absent if an earlier version or another program recorded the call. */
  readonly tiers?: TierSizes;
  readonly status: "complete" | "partial" | "failed";
  readonly stopReason: ReplyStop | null;
  /** The host that answered, if a router says which one. */
  readonly servedBy?: string;
  /** How long the server read what it did not have of the prompt: as it says, or of a server of one's own, until its first words came. */
  readonly prefillMs?: number;
  /** What the provider says about its cache beside our own verdict; absent if it was not asked. */
  readonly diagnosis?: ProviderDiagnosis;
  /** Null if the provider reported none. */
  readonly usage: Usage | null;
  /** The usage of failed attempts that were billed anyway. */
  readonly discarded: readonly Usage[];
  /** Includes the final attempt. Absent if another program sent the call. */
  readonly attemptCount?: number;
  /** The sum of all known costs. Null if none is known. `notes` lists what is missing. */
  readonly costPicoUsd: bigint | null;
  readonly failure: ProviderFailure | null;
  /** How the reply compares with the plan. Null without a reply. */
  readonly verdict: Verdict | null;
  readonly refuted: readonly CachePromise[];
  /** What was left out, stripped or corrected. */
  readonly notes: readonly (EncodeNote | ReplyNote)[];
}

/**
 * What a call was for: a turn, to keep a session's cache warm, to store a prefix or what keeping it cost, or another program's
 * conversation seen by the gateway.
 */
export type CallKind = "turn" | "warm" | "stored" | "gateway";

/** A call without a turn. It adds nothing to the conversation; its cost belongs to the session. */
export interface LoneCall extends Omit<CallRecord, "turnId" | "number"> {
  /** Unique within its session. */
  readonly id: string;
  readonly sessionId: string;
  readonly kind: Exclude<CallKind, "turn" | "gateway">;
  readonly provider: string;
}

export interface CallEntry extends CallRecord {
  /** The new messages of this call, as later calls repeat them. */
  readonly sent: readonly Message[];
  /** The model's reply. Null if nothing arrived. */
  readonly reply: Message | null;
}

/** A correction of the reply's counts, counts that cannot be true, or a change the provider made to the request. */
export interface ReplyNote {
  readonly kind: "usage" | "usage-refused" | "transformed";
  readonly detail: string;
}
