// One policy on one workspace: places markers, bills them on the simulator, and learns from the bill.
import { assert } from "../core/assert.ts";
import type { BlockList } from "../core/assembly/prompt-block.ts";
import type { CachePlan } from "../core/cache/cache-plan.ts";
import { openCacheState, type CacheState, type KnownEntry } from "../core/cache/cache-state.ts";
import { findLastTail, learnFromReply } from "../core/cache/learn-from-reply.ts";
import type { Pace } from "../core/cache/pace.ts";
import { placeRuleMarkers, planCache, type PlacedMarkers } from "../core/cache/plan-cache.ts";
import type { MarkerPart, Policy } from "../core/cache/policy.ts";
import type { PromptHead } from "../core/cache/rule-candidates.ts";
import type { Usage } from "../core/message/usage.ts";
import type { ModelFacts } from "../core/models/model-facts.ts";
import type { Bill, Billing } from "../simulator/billing/bill.ts";
import type { BillableMarker } from "../simulator/billing/billable-request.ts";
import { createBilling } from "../simulator/billing/billing.ts";
import type { BillingOptions } from "../simulator/billing/options.ts";
import { explainReplayMiss, type Continuation, type Miss } from "./misses.ts";
import type { RecordedRequest } from "./recording.ts";
import type { ReplayThread } from "./replay-thread.ts";

export interface TimedRequest {
  readonly request: RecordedRequest;
  readonly startMs: number;
  readonly model: ModelFacts;
  /** Whether it is a session's main thread, where people pause between calls. */
  readonly isMain: boolean;
}

/** A request as the next one of its thread. */
export interface Step extends Continuation {
  readonly name: string;
  readonly thread: ReplayThread;
  readonly head: PromptHead;
  readonly endMs: number;
}

export interface PolicyOutcome {
  readonly usage: Usage;
  readonly miss: Miss | null;
}

export interface PolicyRun {
  readonly place: (call: PolicyCall) => PlacedMarkers;
  /** Called with the bill of the call that was placed last. */
  readonly learn: (call: PolicyCall, bill: Bill) => void;
  readonly billing: Billing;
}

export interface PolicyCall {
  readonly step: Step;
  readonly timed: TimedRequest;
  readonly pace: Pace;
}

export function openRun(
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

export function runPolicy(run: PolicyRun, call: PolicyCall): PolicyOutcome {
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
  const miss = explainReplayMiss(open.bill, step, model.cache);
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
