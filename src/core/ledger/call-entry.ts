// One call as the ledger keeps it: what was sent, what was expected of it, what came back and what it cost.
import type { CachePlan } from "../cache/cache-plan.ts";
import type { CachePromise } from "../cache/evidence.ts";
import type { Verdict } from "../cache/learn-from-reply.ts";
import type { PolicyName } from "../cache/policy.ts";
import type { ContentHash } from "../hash.ts";
import type { Message } from "../message/message.ts";
import type { Usage } from "../message/usage.ts";
import type { EncodeNote } from "../wire/encoded-request.ts";
import type { ProviderFailure } from "../wire/failure.ts";
import type { ReplyStop } from "../wire/reply.ts";

/** A call without its messages, which are kept once, with the turn. */
export interface CallRecord {
  readonly turnId: string;
  /** From 1 within the turn. */
  readonly number: number;
  readonly startMs: number;
  readonly endMs: number;
  readonly model: string;
  readonly policy: PolicyName;
  /** Of everything that was sent and will be sent again. */
  readonly promptKey: ContentHash;
  readonly plan: CachePlan;
  readonly status: "complete" | "partial" | "failed";
  readonly stopReason: ReplyStop | null;
  /** Null where the provider reported none. */
  readonly usage: Usage | null;
  /** Of attempts that came to nothing and were billed all the same. */
  readonly discarded: readonly Usage[];
  /** With the one that gave the outcome; absent where somebody else sent it. */
  readonly attemptCount?: number;
  /** Of everything billed whose cost is known; null where nothing was. What is left out is noted. */
  readonly costPicoUsd: bigint | null;
  readonly failure: ProviderFailure | null;
  /** What the reply says about the plan; null without a reply. */
  readonly verdict: Verdict | null;
  readonly refuted: readonly CachePromise[];
  /** What was left out, stripped or corrected on the way. */
  readonly notes: readonly (EncodeNote | ReplyNote)[];
}

export interface CallEntry extends CallRecord {
  /** What was new in this call, as it will be replayed. */
  readonly sent: readonly Message[];
  /** What the model said; null where nothing arrived. */
  readonly reply: Message | null;
}

/** What had to be corrected in a reply's counts, or what the provider did to the request. */
export interface ReplyNote {
  readonly kind: "usage" | "transformed";
  readonly detail: string;
}
