// One recorded session on the simulator's billing, with or without keeping it warm.
import type { CachePlan } from "../../src/core/cache/cache-plan.ts";
import { openCacheState, type CacheState } from "../../src/core/cache/cache-state.ts";
import { decideRefresh, type RefreshDecision } from "../../src/core/cache/keep-warm.ts";
import { findKeptPrefix, type KeptPrefix } from "../../src/core/cache/kept-prefix.ts";
import { learnFromReply } from "../../src/core/cache/learn-from-reply.ts";
import { openPace, paceAt, type Pace } from "../../src/core/cache/pace.ts";
import { planCache } from "../../src/core/cache/plan-cache.ts";
import { planRefresh } from "../../src/core/cache/plan-warm.ts";
import type { MarkerPart } from "../../src/core/cache/policy.ts";
import {
  bookCall,
  bookRefresh,
  noWarmBooks,
  type WarmBooks,
} from "../../src/core/cache/warm-books.ts";
import type { Usage } from "../../src/core/message/usage.ts";
import type { ModelFacts } from "../../src/core/models/model-facts.ts";
import { createReplayThread, type ReplayThread } from "../../src/replay/replay-thread.ts";
import type { RecordedBlock } from "../../src/replay/recording.ts";
import { costOf } from "../../src/replay/tally.ts";
import { createBilling } from "../../src/simulator/index.ts";
import type { RecordedCall } from "./read-calls.ts";

export interface PricedSession {
  readonly callsPicoUsd: bigint;
  readonly refreshes: readonly { readonly atMs: number; readonly costPicoUsd: bigint }[];
}

interface Thread {
  replay: ReplayThread | null;
  frame: string;
  readonly recorded: RecordedBlock[];
  state: CacheState;
  pace: Pace;
  books: WarmBooks;
  last: {
    readonly model: ModelFacts;
    readonly plan: CachePlan;
    readonly call: RecordedCall;
  } | null;
  due: { readonly decision: RefreshDecision; readonly kept: KeptPrefix } | null;
  readonly markers: MarkerPart["kind"];
}

const hourMs = 3_600_000;

/** `budgetPicoUsd`: for the refreshes of an hour; null to keep nothing warm. */
export function priceSession(
  calls: readonly RecordedCall[],
  markers: MarkerPart,
  budgetPicoUsd: bigint | null,
): PricedSession {
  const threads = new Map<string, Thread>();
  const bill = createBiller();
  const refreshes: { atMs: number; costPicoUsd: bigint }[] = [];
  let callsPicoUsd = 0n;

  /** Whether even a refresh that writes everything again stays within the budget. */
  const fits = (atMs: number, most: bigint): boolean => {
    const recent = refreshes.filter((each) => each.atMs >= atMs - hourMs);
    const spent = recent.reduce((sum, { costPicoUsd }) => sum + costPicoUsd, 0n);
    return spent + most <= (budgetPicoUsd ?? 0n);
  };
  const refresh = (thread: Thread, { decision, kept }: NonNullable<Thread["due"]>): void => {
    const { last, replay, state, books } = thread;
    thread.due = null;
    if (last === null || replay === null) return;
    // A call that took longer than the prefix lives: it is over when it could be refreshed.
    const atMs = Math.max(decision.atMs, last.call.endMs);
    if (atMs >= kept.expiresMs || !fits(atMs, decision.costPicoUsdMax)) return;
    const { model } = last;
    const { blocks } = replay;
    const plan = planRefresh(last.plan, { blocks, rules: model, state, now: atMs });
    const usage = bill(replay, { plan, model, startMs: atMs, endMs: atMs });
    const costPicoUsd = costOf(usage, model, atMs);
    refreshes.push({ atMs, costPicoUsd });
    thread.state = learn({ plan, blocks, model, usage, state, startMs: atMs });
    thread.books = bookRefresh(books, costPicoUsd, { callMs: last.call.startMs, kept });
    thread.due = findDue(thread, atMs);
  };
  const refreshUntil = (ms: number): void => {
    for (;;) {
      const [next] = [...threads.values()]
        .filter(({ due }) => due !== null && due.decision.atMs < ms)
        .toSorted(
          (left, right) => (left.due?.decision.atMs ?? 0) - (right.due?.decision.atMs ?? 0),
        );
      if (next?.due === null || next === undefined) return;
      refresh(next, next.due);
    }
  };

  for (const call of calls) {
    const { request, model, startMs, endMs } = call;
    refreshUntil(startMs);
    const thread = threads.get(request.thread) ?? openThread(request.thread, markers.kind);
    threads.set(request.thread, thread);
    const replay = advance(thread, call);
    const { blocks } = replay;
    const { state } = thread;
    const pace = paceAt(thread.pace, thread.last?.call.startMs ?? null, startMs);
    const plan = planCache({ blocks, rules: model, markers, state, pace, now: startMs });
    const usage = bill(replay, { plan, model, startMs, endMs });
    const uncachedTokens = usage.uncachedTokens + request.remainderTokens;
    const costPicoUsd = costOf({ ...usage, uncachedTokens }, model, startMs);
    callsPicoUsd += costPicoUsd;
    thread.state = learn({ plan, blocks, model, usage, state, startMs });
    thread.books = bookCall(thread.books, { usage, costPicoUsd, startMs }, model);
    thread.pace = pace;
    thread.last = { model, plan, call };
    thread.due = budgetPicoUsd === null ? null : findDue(thread, startMs);
  }
  // No session knows that its last call was the last.
  refreshUntil(Infinity);
  return { callsPicoUsd, refreshes };
}

function openThread(name: string, markers: MarkerPart["kind"]): Thread {
  return {
    markers,
    replay: null,
    frame: "",
    recorded: [],
    state: openCacheState(),
    pace: openPace(name === "" ? "human" : "worker"),
    books: noWarmBooks,
    last: null,
    due: null,
  };
}

function findDue(thread: Thread, nowMs: number): Thread["due"] {
  const { replay, last, state, pace, books, markers } = thread;
  if (replay === null || last === null || !last.call.waits) return null;
  const { model, plan, call } = last;
  if (model.cache.prewarm === null) return null;
  const kept = findKeptPrefix(state, replay.blocks, nowMs);
  if (kept === null) return null;
  const lifetimes = plan.markers.map(({ lifetime }) => lifetime);
  const decision = decideRefresh({
    model,
    pace,
    kept,
    lifetimes,
    callMs: call.startMs,
    books,
    markers,
  });
  return decision?.pays === true ? { decision, kept } : null;
}

function advance(thread: Thread, { request, model }: RecordedCall): ReplayThread {
  const { recorded } = thread;
  recorded.length = Math.min(request.keep, recorded.length);
  recorded.push(...request.append);
  const { settings } = request;
  const frame = `${model.id} ${model.route} ${JSON.stringify(settings)}`;
  if (thread.replay === null || thread.frame !== frame) {
    thread.replay = createReplayThread({ workspace: "", model, settings }, recorded);
    thread.frame = frame;
  } else thread.replay.advance(request);
  return thread.replay;
}

interface Billed {
  readonly plan: CachePlan;
  readonly model: ModelFacts;
  readonly startMs: number;
  readonly endMs: number;
}

function createBiller(): (thread: ReplayThread, billed: Billed) => Usage {
  const billing = createBilling();
  return ({ prompt }, { plan, model, startMs, endMs }) => {
    const open = billing.open({
      id: "",
      workspace: "",
      model,
      blocks: prompt.blocks,
      prompt,
      markers: plan.markers.map(({ block, lifetime }) => ({ block, lifetime, origin: "explicit" })),
      mode: plan.mode ?? "implicit",
      settings: {},
      startMs,
    });
    open.begin();
    open.end(endMs);
    const { uncachedTokens, readTokens, writeTokens } = open.bill;
    const made = { outputTokens: 0, reasoningTokens: 0 };
    return { uncachedTokens, cacheReadTokens: readTokens, cacheWriteTokens: writeTokens, ...made };
  };
}

interface Answered extends Pick<Billed, "plan" | "model" | "startMs"> {
  readonly blocks: ReplayThread["blocks"];
  readonly usage: Usage;
  readonly state: CacheState;
}

function learn({ model, ...call }: Answered): CacheState {
  return learnFromReply({ ...call, rules: model.cache, reportsCache: true }).state;
}
