// One call of a long conversation: four new messages are assembled, counted, hashed and planned.
import { createConversation } from "../harness/conversation.ts";
import { median } from "../harness/measure.ts";
import { atLeast, atMost, type Experiment, type Figure } from "../harness/report.ts";
import { assemble, type Assembly } from "../src/core/assembly/assemble.ts";
import { buildFoundation } from "../src/core/assembly/foundation.ts";
import { appendMessages, openThread, type Thread } from "../src/core/assembly/thread.ts";
import type { CachePlan } from "../src/core/cache/cache-plan.ts";
import { openCacheState, type CacheState } from "../src/core/cache/cache-state.ts";
import { learnFromReply } from "../src/core/cache/learn-from-reply.ts";
import { openPace } from "../src/core/cache/pace.ts";
import { planCache } from "../src/core/cache/plan-cache.ts";
import { findPolicy } from "../src/core/cache/policies.ts";
import type { Message } from "../src/core/message/message.ts";
import { toToolDefinition } from "../src/core/message/tool-definition.ts";
import { resolveModel } from "../src/core/models/resolve-model.ts";
import { loadO200k } from "../src/core/tokens/o200k/counter.ts";
import {
  createTokenCounter,
  lengthCounter,
  type TokenCounter,
} from "../src/core/tokens/token-counter.ts";
import { anthropicMessages } from "../src/core/wire/anthropic-messages/index.ts";
import type { EncodedRequest } from "../src/core/wire/encoded-request.ts";

const sizes = [100, 1_000, 10_000] as const;
const newPerCall = 4;
const callsPerRound = 25;
const rounds = 4;
/** How many calls are timed for each time that the whole request is stringified. */
const stringifyEvery = 5;
const { facts } = resolveModel("claude-sonnet-4-6");
const { layout, markers } = findPolicy("adaptive");
const pace = openPace("human");
const spelling = anthropicMessages.spelling(facts);

const warmUpMessages = createConversation(300 * newPerCall, 8);

export const experiment: Experiment = {
  summary: "assemble, count, hash, plan and encode one call at 100, 1,000 and 10,000 messages",
  async run({ progress }) {
    const counter = createTokenCounter(await loadO200k(), facts.tokenizer);
    const anchored = lengthCounter;
    const figures: Record<string, Figure> = {};
    const ms = new Map<string, number>();
    const note = (name: string, value: number): void => {
      ms.set(name, value);
      figures[`${name} ms`] = value;
    };
    // The first calls of a process include compilation and are not measured.
    const warmUp = [
      openRun(createConversation(100, 7), counter),
      openRun(createConversation(100, 7), anchored),
    ];
    for (let at = 0; at < 300 * newPerCall; at += newPerCall) {
      for (const run of warmUp) timeCall(run, warmUpMessages.slice(at, at + newPerCall));
    }
    for (const size of sizes) {
      const conversation = createConversation(size, size);
      const fresh = createConversation(newPerCall * callsPerRound * rounds, size + 1);
      const [counting, usage] = [openRun(conversation, counter), openRun(conversation, anchored)];
      const times = { counting: [] as number[], usage: [] as number[], stringify: [] as number[] };
      const whole = [...conversation, ...fresh.slice(0, newPerCall)];
      const body = naive(whole, anchored).toObject();
      for (let round = 0; round < rounds; round += 1) {
        progress(`${size} messages, round ${round + 1} of ${rounds}`);
        // All alternate, so that they see the same machine.
        for (let call = 0; call < callsPerRound; call += 1) {
          const at = (round * callsPerRound + call) * newPerCall;
          const added = fresh.slice(at, at + newPerCall);
          times.counting.push(timeCall(counting, added));
          times.usage.push(timeCall(usage, added));
          if (call % stringifyEvery === 0)
            times.stringify.push(medianOf(1, () => JSON.stringify(body)));
        }
      }
      note(`call at ${size}`, median(times.counting));
      note(`usage-anchored call at ${size}`, median(times.usage));
      note(`JSON.stringify at ${size}`, median(times.stringify));
      note(
        `naive at ${size}`,
        medianOf(size > 1_000 ? 3 : 7, () => naive(whole, counter)),
      );
    }
    const ratio = (left: string, right: string): number =>
      (ms.get(left) ?? NaN) / (ms.get(right) ?? NaN);
    const growth = Math.log(ratio("call at 10000", "call at 100")) / Math.log(100);
    figures["usage-anchored growth exponent"] =
      Math.log(ratio("usage-anchored call at 10000", "usage-anchored call at 100")) / Math.log(100);
    return {
      figures,
      checks: [
        atLeast("naive/ours at 1,000", ratio("naive at 1000", "call at 1000"), 150),
        atLeast("naive/ours at 10,000", ratio("naive at 10000", "call at 10000"), 1_600),
        atMost(
          "share of JSON.stringify at 1,000",
          ratio("call at 1000", "JSON.stringify at 1000"),
          0.3,
        ),
        atMost("growth exponent 100 to 10,000", growth, 0.15),
        atMost(
          "usage-anchored share of JSON.stringify at 1,000",
          ratio("usage-anchored call at 1000", "JSON.stringify at 1000"),
          0.12,
        ),
      ],
    };
  },
};

interface Run {
  thread: Thread;
  state: CacheState;
  now: number;
}

function openRun(conversation: readonly Message[], counter: TokenCounter): Run {
  const run: Run = {
    thread: openSession(counter),
    state: openCacheState(),
    now: 1_800_000_000_000,
  };
  run.thread = appendMessages(run.thread, conversation.slice(0, -newPerCall));
  finish(run, makeCall(run, conversation.slice(-newPerCall)));
  return run;
}

interface MadeCall {
  readonly assembly: Assembly;
  readonly plan: CachePlan;
  readonly request: EncodedRequest;
}

function makeCall({ thread, state, now }: Run, current: readonly Message[]): MadeCall {
  const volatile = "Current time: 2026-11-15T12:00:00Z\nTimezone: UTC";
  const assembly = assemble({ thread, current, volatile, layout, model: facts });
  const plan = planCache({ blocks: assembly.blocks, rules: facts, markers, state, pace, now });
  const options = { outputTokensMax: 4000, stream: true };
  const request = anthropicMessages.encode({ assembly, plan, model: facts, options });
  return { assembly, plan, request };
}

function timeCall(run: Run, added: readonly Message[]): number {
  const start = performance.now();
  const made = makeCall(run, added);
  const took = performance.now() - start;
  finish(run, made);
  return took;
}

/** Settles the call as if the provider had billed the expected tokens. */
function finish(run: Run, { assembly, plan }: MadeCall): void {
  const { readTokens, writeTokens, uncachedTokens } = plan.expected;
  const usage = {
    uncachedTokens,
    cacheReadTokens: readTokens,
    cacheWriteTokens: writeTokens,
    outputTokens: 200,
    reasoningTokens: 0,
  };
  const { state } = learnFromReply({
    state: run.state,
    plan,
    blocks: assembly.blocks,
    rules: facts.cache,
    usage,
    reportsCache: true,
    startMs: run.now,
  });
  run.thread = assembly.thread;
  run.state = state;
  run.now += 20_000;
}

function naive(conversation: readonly Message[], counter: TokenCounter): EncodedRequest {
  const thread = appendMessages(openSession(counter), conversation.slice(0, -newPerCall));
  const run = { thread, state: openCacheState(), now: 1_800_000_000_000 };
  return makeCall(run, conversation.slice(-newPerCall)).request;
}

function openSession(counter: TokenCounter): Thread {
  const tools = ["Bash", "Edit", "Read"].map((name) =>
    toToolDefinition({
      name,
      description: `${name} in the workspace.`,
      inputSchema: { type: "object" },
    }),
  );
  const text = "Answer briefly and check what you say. ".repeat(200);
  const system = [{ label: "static", tier: "T1" as const, text }];
  return openThread(buildFoundation({ tools, system, spelling, counter, model: facts }));
}

function medianOf(times: number, run: () => unknown): number {
  return median(
    Array.from({ length: times }, () => {
      const start = performance.now();
      run();
      return performance.now() - start;
    }),
  );
}
