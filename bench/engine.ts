// Engine time of one call on long sessions, without the provider: assemble, plan, record, encode, settle, record.
import { createConversation } from "../harness/conversation.ts";
import { median, quantile } from "../harness/measure.ts";
import { atMost, type Experiment, type Figure } from "../harness/report.ts";
import { findPolicy } from "../src/core/cache/policies.ts";
import type { Message } from "../src/core/message/message.ts";
import { noUsage } from "../src/core/message/usage.ts";
import { resolveModel } from "../src/core/models/resolve-model.ts";
import { loadO200k } from "../src/core/tokens/o200k/counter.ts";
import { anthropicMessages } from "../src/core/wire/anthropic-messages/index.ts";
import type { Provider } from "../src/edge/providers/provider.ts";
import { openLedger } from "../src/edge/stores/open-ledger.ts";
import { runTurn, type Deps } from "../src/engine.ts";
import { openSession } from "../src/engine/session/open-session.ts";
import type { Session } from "../src/core/session/session.ts";

const sizes = [100, 1_000, 10_000] as const;
const turnsPerRound = 25;
const rounds = 8;

export const experiment: Experiment = {
  summary: "engine time of one call at 100, 1,000 and 10,000 messages, without the provider's",
  // Loading modules, opening sessions and recording their history take most of a run; they are not calls. Five runs,
  // because V8 takes more than a thousand calls to compile what a call uses.
  measured: { from: `round 2 of ${rounds}`, runs: 5 },
  async run({ progress }) {
    const counter = await loadO200k();
    const runs = [];
    for (const size of sizes) {
      progress(`a session of ${size} messages`);
      runs.push(await openRun(size, counter));
    }
    const warmUp = await openRun(100, counter);
    await timeTurns(warmUp, 150);
    // Sizes alternate, so that a busy machine affects all of them.
    for (let round = 0; round < rounds; round += 1) {
      progress(`round ${round + 1} of ${rounds}`);
      for (const run of runs) run.ms.push(...(await timeTurns(run, turnsPerRound)));
    }
    const figures: Record<string, Figure> = {};
    for (const { size, ms } of runs) {
      figures[`call at ${size} messages, ms p50`] = median(ms);
      figures[`call at ${size} messages, ms p99`] = quantile(ms, 0.99);
    }
    for (const run of [...runs, warmUp]) await run.close();
    const [small, middle, large] = runs.map(({ ms }) => median(ms));
    return {
      figures,
      checks: [
        atMost("p50 at 1,000 against 100 messages", ratio(middle, small), 1.5),
        atMost("p50 at 10,000 against 100 messages", ratio(large, small), 1.5),
      ],
    };
  },
};

function ratio(left: number | undefined, right: number | undefined): number | null {
  return left === undefined || right === undefined ? null : left / right;
}

interface Run {
  readonly size: number;
  readonly ms: number[];
  readonly deps: Deps;
  readonly messages: readonly Message[];
  session: Session;
  turns: number;
  close(): Promise<void>;
}

async function openRun(size: number, counter: Awaited<ReturnType<typeof loadO200k>>): Promise<Run> {
  const ledger = await openLedger(":memory:");
  const { facts } = resolveModel("claude-sonnet-4-6");
  // Large enough to avoid compactions.
  const model = { ...facts, windowTokens: 100_000_000, inputTokensMax: 100_000_000 };
  const session = openSession({
    model,
    protocol: anthropicMessages,
    policy: findPolicy("adaptive"),
    context: { role: "unified", workspaceRules: "Answer briefly." },
    counter,
    options: { outputTokensMax: 1_000, stream: false },
    messages: createConversation(size, size),
  });
  const deps: Deps = {
    provider: createReplies(),
    ledger,
    runTools: () => Promise.resolve([]),
    now: Date.now,
  };
  const messages = createConversation(4 * turnsPerRound * rounds, size + 1);
  return { size, ms: [], deps, messages, session, turns: 0, close: () => ledger.close() };
}

/** Answers at once, so that only the engine is measured. */
function createReplies(): Pick<Provider, "send"> {
  const message: Message = { role: "assistant", content: [{ type: "text", text: "It is done." }] };
  const usage = { ...noUsage, uncachedTokens: 10, outputTokens: 5 };
  const outcome = {
    kind: "reply",
    id: "msg_1",
    model: "claude-sonnet-4-6",
    message,
    stopReason: "end_turn",
    usage: { usage, isReported: true, reportsCache: false, warnings: [] },
    status: "complete",
    transformations: [],
  } as const;
  return {
    send: () =>
      Promise.resolve({
        outcome,
        attempts: [],
        startMs: 0,
        endMs: 0,
        firstByteMs: 0,
        status: 200,
        requestId: null,
        headers: {},
      }),
  };
}

async function timeTurns(run: Run, count: number): Promise<readonly number[]> {
  const ms: number[] = [];
  for (let turn = 0; turn < count; turn += 1) {
    const words = run.messages[(run.turns * 4) % run.messages.length];
    run.turns += 1;
    const event = { content: words?.content ?? "Go on.", source: "human" };
    const start = performance.now();
    const made = await runTurn(run.session, { event }, run.deps);
    ms.push(performance.now() - start);
    run.session = made.session;
  }
  // The first turn of a session also records the history.
  return run.turns === count ? ms.slice(1) : ms;
}
