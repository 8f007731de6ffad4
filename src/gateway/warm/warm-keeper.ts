// Sends calls that only keep or write a cache, when they are due and within a budget. A client's key is held until then, and no longer.
import { randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import type { CachePlan } from "../../core/cache/cache-plan.ts";
import type { WarmingCost } from "../../core/ledger/gateway-call.ts";
import type { Usage } from "../../core/message/usage.ts";
import { findTotal } from "../../core/models/cost.ts";
import {
  onServiceTier,
  toPricedOtherwise,
  type PricedOtherwise,
} from "../../core/models/service-tiers.ts";
import type { ModelFacts } from "../../core/models/model-facts.ts";
import { nameWrites } from "../../core/wire/name-writes.ts";
import type { Protocol } from "../../core/wire/protocol.ts";
import type { Resend } from "../exchange.ts";
import { openReplyReader, seenNothing, type SeenReply } from "../observe/read-reply.ts";
import type { ObservedCall } from "../observed-call.ts";
import { createHourlyBudget, hourMs, type HourlyBudget } from "./hourly-budget.ts";

export interface WarmSettings {
  readonly usdPerHour: number;
  /** Whether a login, which a subscription pays, may be used, too. */
  readonly logins: boolean;
}

export interface WarmKeeper {
  /** Another job of the same name replaces this one. */
  schedule(job: WarmJob): void;
  /** The client's next call began, so the job has nothing to keep any more. */
  cancel(name: string): void;
  /** The record of a call, after which a job may have been scheduled. */
  saw(call: ObservedCall): void;
  counts(): WarmCounts;
  close(): void;
}

export interface WarmCounts {
  readonly sent: number;
  /** Refused by the provider, or without an answer. */
  readonly failed: number;
  /** Given up: above the budget, or too many were waiting. */
  readonly skipped: number;
  readonly waiting: number;
  readonly spentPicoUsd: bigint;
}

export interface WarmJob {
  /** The conversation whose cache it is. */
  readonly name: string;
  readonly purpose: NonNullable<ObservedCall["purpose"]>;
  /** Milliseconds since 1970. */
  readonly atMs: number;
  readonly mostPicoUsd: bigint;
  readonly resend: Resend;
  /** How much memory its body takes. */
  readonly byteLength: number;
  /** Null if the provider would refuse it. Called when it is due. */
  readonly toBody: () => readonly Uint8Array[] | null;
  readonly protocol: Protocol;
  readonly facts: ModelFacts;
  readonly plan: CachePlan;
  /** The conversation under which it is recorded, with the number that the call has there. */
  readonly toConversation: (of: ObservedCall["conversation"]) => ObservedCall["conversation"];
  /** How many blocks it has, from the first. */
  readonly blocks: number;
  /** What the provider billed. May schedule the next job. */
  readonly learn: (warmed: Warmed) => void;
}

export interface Warmed {
  readonly usage: Usage;
  readonly reportsCache: boolean;
  readonly costPicoUsd: bigint | null;
  readonly startMs: number;
}

export interface WarmKeeperOptions {
  readonly settings: WarmSettings;
  readonly nowMs: () => number;
  readonly onWarmed: (call: ObservedCall) => void;
  /** A timer that does not keep the process alive; returns how to stop it. */
  readonly after?: (delayMs: number, run: () => void) => () => void;
  readonly onFault?: (error: unknown) => void;
  /** What gateways of the same ledger spent on such calls since then, this one included. It may reject: then only its own count. */
  readonly listWarming?: (sinceMs: number) => Promise<readonly WarmingCost[]>;
}

interface Waiting {
  readonly job: WarmJob;
  readonly stop: () => void;
  /** The client's call before it; its record is the form of this one's. */
  like: ObservedCall | null;
}

const waitingMax = 1000;
const waitingBytesMax = 64 * 1024 * 1024;

export function createWarmKeeper(options: WarmKeeperOptions): WarmKeeper {
  const { settings, nowMs, after = afterOnMachine, onFault = () => {} } = options;
  const recorded = createRecorded(options);
  const budget = createHourlyBudget(settings.usdPerHour);
  const waiting = new Map<string, Waiting>();
  const closing = new AbortController();
  const counts = { sent: 0, failed: 0, skipped: 0 };
  const drop = (name: string): void => {
    waiting.get(name)?.stop();
    waiting.delete(name);
  };
  const fire = (due: Waiting): void => {
    waiting.delete(due.job.name);
    const parts = { ...options, recorded, budget, counts, signal: closing.signal };
    const run = async (): Promise<void> => {
      await send(due, parts);
      // The next job of the conversation is recorded like this one.
      const next = waiting.get(due.job.name);
      if (next !== undefined) next.like ??= due.like;
    };
    run().catch(onFault);
  };
  return {
    schedule: (job) => {
      if (closing.signal.aborted) return;
      const before = waiting.get(job.name)?.like ?? null;
      drop(job.name);
      const stop = after(Math.max(0, job.atMs - nowMs()), () => fire(one));
      const one: Waiting = { job, stop, like: before };
      waiting.set(job.name, one);
      for (const oldest of waiting.keys()) {
        if (waiting.size <= waitingMax && bytesOf(waiting) <= waitingBytesMax) break;
        counts.skipped += 1;
        drop(oldest);
      }
    },
    cancel: drop,
    saw: (call) => {
      const one = waiting.get(call.conversation.id);
      if (one !== undefined) one.like = call;
    },
    counts: () => ({
      ...counts,
      waiting: waiting.size,
      spentPicoUsd: budget.spentPicoUsd(nowMs()),
    }),
    close: () => {
      closing.abort();
      for (const name of waiting.keys()) drop(name);
    },
  };
}

function bytesOf(waiting: ReadonlyMap<string, Waiting>): number {
  let sum = 0;
  for (const { job } of waiting.values()) sum += job.byteLength;
  return sum;
}

/** What the ledger has of the hour: as it was known last, or asked for within a limit. */
interface RecordedWarming {
  known(): readonly WarmingCost[];
  ask(): Promise<readonly WarmingCost[]>;
}

const askMsMax = 2000;

function createRecorded({
  nowMs,
  listWarming = () => Promise.resolve([]),
}: Pick<WarmKeeperOptions, "nowMs" | "listWarming">): RecordedWarming {
  let known: readonly WarmingCost[] = [];
  const list = async (): Promise<void> => {
    // While the ledger fails, this gateway counts its own.
    known = await listWarming(nowMs() - hourMs).catch(() => known);
  };
  void list();
  return {
    known: () => {
      void list();
      return known;
    },
    ask: async () => {
      const late = new AbortController();
      const limit = wait(askMsMax, undefined, { signal: late.signal, ref: false }).catch(() => {});
      await Promise.race([list(), limit]);
      late.abort();
      return known;
    },
  };
}

interface SendParts extends Pick<WarmKeeperOptions, "nowMs" | "onWarmed"> {
  readonly recorded: RecordedWarming;
  readonly budget: HourlyBudget;
  readonly counts: { sent: number; failed: number; skipped: number };
  readonly signal: AbortSignal;
}

async function send(
  { job, like }: Waiting,
  { nowMs, onWarmed, recorded, budget, counts, signal }: SendParts,
): Promise<void> {
  const body = like === null ? null : job.toBody();
  // A head that is written ahead is of use at once or not at all.
  const hour = job.purpose === "prewarm" ? recorded.known() : await recorded.ask();
  // Meanwhile the gateway may have been closed.
  if (signal.aborted) return;
  const [callId, startMs] = [randomUUID(), nowMs()];
  const reservation = { callId, mostPicoUsd: job.mostPicoUsd, nowMs: startMs, recorded: hour };
  const settle = body === null ? null : budget.reserve(reservation);
  if (like === null || body === null || settle === null) {
    counts.skipped += 1;
    return;
  }
  counts.sent += 1;
  const { seen, responseBytes } = await readAnswer(job, body, { nowMs, signal });
  const bill = billOf(job, seen, startMs);
  if (seen.status !== "complete") counts.failed += 1;
  settle(
    seen.reported === null && seen.failure !== null && responseBytes > 0 ? 0n : bill.costPicoUsd,
  );
  const requestBytes = body.reduce((sum, piece) => sum + piece.byteLength, 0);
  const times = { startMs, firstByteMs: null, endMs: Math.max(startMs, nowMs()) };
  onWarmed({
    ...withoutPrice(like),
    ...unlike(like, job),
    id: callId,
    ...times,
    ...bill,
    conversation: job.toConversation(like.conversation),
    purpose: job.purpose,
    status: seen.status,
    stopReason: seen.stopReason,
    failure: seen.failure,
    replyId: seen.replyId,
    servedBy: seen.servedBy,
    markers: job.plan.markers.map(({ block, lifetime }) => ({ block, lifetime })),
    notes: seen.notes,
    requestBytes,
    responseBytes,
  });
  const { usage, reportsCache, costPicoUsd } = bill;
  if (usage !== null) job.learn({ usage, reportsCache, costPicoUsd, startMs });
}

type Unlike =
  | "policy"
  | "clientCostPicoUsd"
  | "plainCostPicoUsd"
  | "explanation"
  | "otherPolicies"
  | "keptBlocks"
  | "addedBlocks";

/** Without the gateway this call would not exist, so it would have cost nothing. */
function unlike(
  { keptBlocks, addedBlocks }: ObservedCall,
  { purpose, blocks }: WarmJob,
): Pick<ObservedCall, Unlike> {
  // A prewarming begins a conversation of its own.
  const isFirst = purpose === "prewarm";
  return {
    policy: "adaptive",
    clientCostPicoUsd: 0n,
    plainCostPicoUsd: 0n,
    explanation: null,
    otherPolicies: [],
    keptBlocks: isFirst ? 0 : keptBlocks + addedBlocks.length,
    addedBlocks: isFirst ? addedBlocks.slice(0, blocks) : [],
  };
}

async function readAnswer(
  { protocol, resend }: WarmJob,
  body: readonly Uint8Array[],
  { nowMs, signal }: Pick<SendParts, "nowMs" | "signal">,
): Promise<{ readonly seen: SeenReply; readonly responseBytes: number }> {
  try {
    const { status, headers, bytes } = await resend(body, signal);
    const limits = { answerBytesMax: 1024 * 1024, unpackedBytesMax: 1024 * 1024 };
    const reader = openReplyReader({ protocol, status, headers, nowMs, limits });
    reader.feed(bytes);
    const seen = await new Promise<SeenReply>((resolve) => {
      reader.end("complete", resolve);
    });
    return { seen, responseBytes: bytes.byteLength };
  } catch {
    // The connection failed or was ended; the next call of the client shows what the provider has.
    return { seen: seenNothing("no answer"), responseBytes: 0 };
  }
}

/** The warming call is served and priced on its own. */
function withoutPrice({
  serviceTier: _serviceTier,
  isCostNamed: _isCostNamed,
  ...call
}: ObservedCall): ObservedCall {
  return call;
}

type WarmBill = Pick<ObservedCall, "usage" | "reportsCache" | "costPicoUsd"> & PricedOtherwise;

function billOf({ plan, facts }: WarmJob, { reported }: SeenReply, startMs: number): WarmBill {
  if (reported === null) return { usage: null, reportsCache: false, costPicoUsd: null };
  const named = nameWrites(reported, plan, facts);
  const { usage, reportsCache } = named;
  const listed = findTotal(usage, facts, { at: startMs });
  const costPicoUsd = named.costPicoUsd ?? onServiceTier(listed, facts, named.serviceTier);
  return { usage, reportsCache, costPicoUsd, ...toPricedOtherwise(named) };
}

function afterOnMachine(delayMs: number, run: () => void): () => void {
  const timer = setTimeout(run, delayMs);
  timer.unref();
  return () => clearTimeout(timer);
}
