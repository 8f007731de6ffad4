// Replays one workspace: every request in order of time, under every policy, on the simulator's billing.
import { assert } from "../core/assert.ts";
import type { BlockList, PromptBlock } from "../core/assembly/prompt-block.ts";
import { openCacheState, type CacheState, type KnownEntry } from "../core/cache/cache-state.ts";
import { findLastTail, learnFromReply } from "../core/cache/learn-from-reply.ts";
import { openPace, paceAt, type Pace } from "../core/cache/pace.ts";
import { placeRuleMarkers, planCache, type PlacedMarkers } from "../core/cache/plan-cache.ts";
import type { MarkerPart, Policy } from "../core/cache/policy.ts";
import type { CachePlan } from "../core/cache/cache-plan.ts";
import { readHead, type PromptHead } from "../core/cache/rule-candidates.ts";
import type { Usage } from "../core/message/usage.ts";
import type { ModelFacts } from "../core/models/model-facts.ts";
import type { Bill, Billing } from "../simulator/billing/bill.ts";
import type { BillableMarker } from "../simulator/billing/billable-request.ts";
import { createBilling } from "../simulator/billing/billing.ts";
import type { BillingOptions } from "../simulator/billing/options.ts";
import { createClientBilling } from "./client-billing.ts";
import { createLimitMeter, type Limits } from "./limit.ts";
import { explainReplayMiss, type Continuation, type Miss } from "./misses.ts";
import type { RecordedBlock, RecordedRequest } from "./recording.ts";
import { createReplayThread, type ReplayThread } from "./replay-thread.ts";

export interface TimedRequest {
  readonly request: RecordedRequest;
  readonly startMs: number;
  readonly model: ModelFacts;
  /** Whether it is a session's main thread, where people pause between calls. */
  readonly isMain: boolean;
}

export interface ReplayedRequest<Request extends TimedRequest> {
  readonly timed: Request;
  readonly promptTokens: number;
  /** Prompt tokens by tier, computed on demand. */
  tierTokens(): Readonly<Record<"T0" | "T1" | "T2" | "T3", number>>;
  /** Prompt tokens that the thread's previous call sent too. */
  readonly sharedTokens: number;
  readonly limits: Limits;
  /** In the order of the policies. */
  readonly outcomes: readonly PolicyOutcome[];
  /** What the client's own markers read on the simulator; null if not asked for. */
  readonly clientReadTokens: number | null;
}

export interface PolicyOutcome {
  readonly usage: Usage;
  readonly miss: Miss | null;
}

/** Takes requests in order of time. No decision uses a later request. */
export function* replayWorkspace<Request extends TimedRequest>(
  workspace: string,
  requests: Iterable<Request>,
  policies: readonly Pick<Policy, "markers">[],
  clientModeOf?: (request: Request) => "implicit" | "explicit",
  billing: Partial<BillingOptions> = {},
): Generator<ReplayedRequest<Request>> {
  const threads = new Map<string, ThreadState>();
  const runs = policies.map((policy) => openRun(policy, billing));
  const billClient = createClientBilling();
  const meter = createLimitMeter();
  for (const timed of requests) {
    const thread = threads.get(timed.request.thread) ?? openThreadState(timed);
    threads.set(timed.request.thread, thread);
    const step = advance(thread, timed, workspace);
    const { prompt } = step.thread;
    thread.pace = paceAt(thread.pace, thread.lastMs, timed.startMs);
    const limits = meter.add({
      keys: prompt.keys,
      cumulative: prompt.cumulative,
      tokens: (block) => prompt.blocks[block]?.tokens ?? 0,
      remainderTokens: timed.request.remainderTokens,
      startMs: timed.startMs,
      model: timed.model,
    });
    yield {
      timed,
      promptTokens: (prompt.cumulative.at(-1) ?? 0) + timed.request.remainderTokens,
      tierTokens: () => sumTiers(step.thread.blocks),
      sharedTokens: step.sharedTokens,
      limits,
      outcomes: runs.map((run) => runPolicy(run, { step, timed, pace: thread.pace })),
      clientReadTokens:
        clientModeOf === undefined
          ? null
          : billClient({ ...timed, ...step, prompt, mode: clientModeOf(timed) }),
    };
    thread.lastMs = timed.startMs;
  }
}

function sumTiers(blocks: readonly PromptBlock[]): Record<"T0" | "T1" | "T2" | "T3", number> {
  const sums = { T0: 0, T1: 0, T2: 0, T3: 0 };
  for (const { tier, tokens } of blocks) {
    if (tier === "T0" || tier === "T1" || tier === "T2") sums[tier] += tokens;
    else sums.T3 += tokens;
  }
  return sums;
}

interface ThreadState {
  readonly name: string;
  /** Every block of the last request, on any model. */
  recorded: RecordedBlock[];
  frame: string;
  modelId: string;
  replay: ReplayThread | null;
  pace: Pace;
  lastMs: number | null;
}

function openThreadState({ request, isMain }: TimedRequest): ThreadState {
  return {
    name: request.thread,
    recorded: [],
    frame: "",
    modelId: "",
    replay: null,
    pace: openPace(isMain ? "human" : "worker"),
    lastMs: null,
  };
}

interface Step extends Continuation {
  readonly name: string;
  readonly thread: ReplayThread;
  readonly head: PromptHead;
  readonly endMs: number;
}

function advance(
  thread: ThreadState,
  { request, model, startMs }: TimedRequest,
  workspace: string,
): Step {
  const shared = Math.min(request.keep, thread.recorded.length);
  const isRewritten = shared < thread.recorded.length;
  const sharedTokens = sumTokens(thread, shared);
  thread.recorded.length = shared;
  thread.recorded.push(...request.append);
  const frame = `${model.id} ${model.route} ${JSON.stringify(request.settings)}`;
  const isFirst = thread.replay === null;
  const isSame = thread.frame === frame;
  const changed = thread.modelId === model.id ? "parameter changed" : "model changed";
  if (thread.replay === null || !isSame) {
    const parts = { workspace, model, settings: request.settings };
    thread.replay = createReplayThread(parts, thread.recorded);
    thread.frame = frame;
    thread.modelId = model.id;
  } else thread.replay.advance(request);
  return {
    name: thread.name,
    thread: thread.replay,
    head: readHead(thread.replay.blocks),
    recorded: thread.recorded,
    frame: isFirst || isSame ? "same" : changed,
    sharedTokens: isFirst ? 0 : sharedTokens,
    isRewritten,
    gapMs: thread.lastMs === null ? 0 : startMs - thread.lastMs,
    endMs: Math.max(startMs, startMs + (request.endMs ?? 0) - (request.startMs ?? 0)),
  };
}

/** Tokens of the shared leading blocks, from the existing sums. */
function sumTokens({ replay }: ThreadState, shared: number): number {
  return shared === 0 ? 0 : (replay?.prompt.cumulative[shared - 1] ?? 0);
}

interface PolicyRun {
  readonly place: (call: PolicyCall) => PlacedMarkers;
  /** Called with the bill of the call that was placed last. */
  readonly learn: (call: PolicyCall, bill: Bill) => void;
  readonly billing: Billing;
}

interface PolicyCall {
  readonly step: Step;
  readonly timed: TimedRequest;
  readonly pace: Pace;
}

function openRun(
  { markers }: Pick<Policy, "markers">,
  options: Partial<BillingOptions>,
): PolicyRun {
  const billing = createBilling(options);
  return markers.kind === "rules"
    ? openFixedRun(markers, billing)
    : openPlannedRun(markers, billing);
}

/** Fixed rules learn nothing from replies. */
function openFixedRun(
  markers: Extract<MarkerPart, { kind: "rules" }>,
  billing: Billing,
): PolicyRun {
  const tails = new Map<string, CacheState["lastTail"]>();
  return {
    billing,
    place: ({ step: { name, thread, head }, timed: { model }, pace }) => {
      const { blocks } = thread;
      const lastTail = tails.get(name) ?? null;
      const placed = placeRuleMarkers({ blocks, rules: model, markers, pace }, lastTail, head);
      tails.set(name, findLastTail(placed, blocks));
      return placed;
    },
    learn: () => undefined,
  };
}

function openPlannedRun(markers: MarkerPart, billing: Billing): PolicyRun {
  const states = new Map<string, CacheState>();
  /** Entries of all threads of the workspace. */
  let entries: readonly KnownEntry[] = [];
  let planned: { readonly state: CacheState; readonly plan: CachePlan } | null = null;
  return {
    billing,
    place: ({ step: { name, thread }, timed: { model, startMs }, pace }) => {
      const state = { ...(states.get(name) ?? openCacheState()), entries };
      const { blocks } = thread;
      const plan = planCache({ blocks, rules: model, markers, state, pace, now: startMs });
      planned = { state, plan };
      return plan;
    },
    learn: ({ step: { name, thread }, timed: { model, startMs } }, bill) => {
      assert(planned !== null, "a call is planned before it is billed");
      const learned = learnFromReply({
        ...planned,
        blocks: thread.blocks,
        rules: model.cache,
        usage: toUsage(bill, 0),
        reportsCache: true,
        startMs,
      });
      states.set(name, learned.state);
      entries = learned.state.entries;
    },
  };
}

function runPolicy(run: PolicyRun, call: PolicyCall): PolicyOutcome {
  const { step, timed } = call;
  const { model, startMs, request } = timed;
  const { blocks, prompt } = step.thread;
  const placed = run.place(call);
  const open = run.billing.open({
    id: "",
    workspace: "",
    model,
    blocks: prompt.blocks,
    prompt,
    markers: toMarkers(placed, blocks),
    mode: placed.mode ?? "implicit",
    settings: {},
    startMs,
  });
  open.begin();
  open.end(step.endMs);
  run.learn(call, open.bill);
  const shortestLifetimeMs = (model.cache.lifetimes[0]?.seconds ?? 0) * 1000;
  const miss = explainReplayMiss(open.bill, step, shortestLifetimeMs);
  return { usage: toUsage(open.bill, request.remainderTokens), miss };
}

function toMarkers({ markers, requestMarker }: PlacedMarkers, blocks: BlockList): BillableMarker[] {
  const explicit = markers.map(({ block, lifetime }): BillableMarker => ({
    block,
    lifetime,
    origin: "explicit",
  }));
  if (requestMarker === null) return explicit;
  let block = blocks.length - 1;
  while (block > 0 && blocks.at(block)?.mayCarryMarker !== true) block -= 1;
  return [...explicit, { block, lifetime: requestMarker, origin: "automatic" }];
}

function toUsage(bill: Bill, remainderTokens: number): Usage {
  return {
    uncachedTokens: bill.uncachedTokens + remainderTokens,
    cacheReadTokens: bill.readTokens,
    cacheWriteTokens: bill.writeTokens,
    outputTokens: 0,
    reasoningTokens: 0,
  };
}
