// Replays one workspace: every request in order of time, under every policy, on the simulator's billing.
import type { PromptBlock } from "../core/assembly/prompt-block.ts";
import { openPace, paceAt, type Pace } from "../core/cache/pace.ts";
import type { Policy } from "../core/cache/policy.ts";
import { readHead } from "../core/cache/rule-candidates.ts";
import type { BillingOptions } from "../simulator/billing/options.ts";
import { createClientBilling } from "./client-billing.ts";
import { createLimitMeter, type Limits } from "./limit.ts";
import {
  openRun,
  runPolicy,
  type PolicyOutcome,
  type Step,
  type TimedRequest,
} from "./policy-run.ts";
import type { RecordedBlock } from "./recording.ts";
import { createReplayThread, type ReplayThread } from "./replay-thread.ts";

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

/** Takes requests in order of time. No decision uses a later request. */
export function* replayWorkspace<Request extends TimedRequest>(
  workspace: string,
  requests: Iterable<Request>,
  policies: readonly Pick<Policy, "markers">[],
  clientModeOf?: ClientModeOf<Request>,
  billing: Partial<BillingOptions> = {},
): Generator<ReplayedRequest<Request>> {
  const open = openWorkspaceReplay(workspace, policies, clientModeOf, billing);
  for (const timed of requests) yield open(timed);
}

type ClientModeOf<Request> = (request: Request) => "implicit" | "explicit";

/** The same, one request at a time. */
export function openWorkspaceReplay<Request extends TimedRequest>(
  workspace: string,
  policies: readonly Pick<Policy, "markers">[],
  clientModeOf?: ClientModeOf<Request>,
  billing: Partial<BillingOptions> = {},
): (request: Request) => ReplayedRequest<Request> {
  const threads = new Map<string, ThreadState>();
  const runs = policies.map((policy) => openRun(policy, billing));
  const billClient = createClientBilling();
  const meter = createLimitMeter();
  return (timed) => {
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
    const replayed = {
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
    return replayed;
  };
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

function advance(
  thread: ThreadState,
  { request, model, startMs }: TimedRequest,
  workspace: string,
): Step {
  const shared = Math.min(request.keep, thread.recorded.length);
  const isRewritten = shared < thread.recorded.length;
  thread.recorded.length = shared;
  if (request.sizes !== undefined) resize(thread.recorded, request.sizes);
  const sharedTokens =
    request.sizes === undefined
      ? sumTokens(thread, shared)
      : thread.recorded.reduce((sum, { tokens }) => sum + tokens, 0);
  thread.recorded.push(...request.append);
  const frame = `${model.id} ${model.route} ${JSON.stringify(request.settings)}`;
  const isFirst = thread.replay === null;
  const isSame = thread.frame === frame;
  const changed = thread.modelId === model.id ? "parameter changed" : "model changed";
  if (thread.replay === null || !isSame || request.sizes !== undefined) {
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

function resize(blocks: RecordedBlock[], sizes: readonly number[]): void {
  for (const [place, block] of blocks.entries()) {
    blocks[place] = { ...block, tokens: sizes[place] ?? block.tokens };
  }
}

/** Tokens of the shared leading blocks, from the existing sums. */
function sumTokens({ replay }: ThreadState, shared: number): number {
  return shared === 0 ? 0 : (replay?.prompt.cumulative[shared - 1] ?? 0);
}
