// Goal: a summary comes, or a clear failure with everything it cost. Method: real sockets to the simulator, which
// bills, and fails in every way it is asked to.
import { afterEach, describe, expect, test } from "vitest";
import { findPolicy } from "../../core/cache/policies.ts";
import type { HistoryMessage } from "../../core/compaction/history.ts";
import { notesMarkers } from "../../core/compaction/summary/notes-markers.ts";
import { itemsOf } from "../../core/growing/growing-list.ts";
import type { CallEntry } from "../../core/ledger/call-entry.ts";
import type { Message } from "../../core/message/message.ts";
import { noUsage, promptTokens } from "../../core/message/usage.ts";
import { resolveModel } from "../../core/models/resolve-model.ts";
import { cheapCounter } from "../../core/tokens/cheap-counter.ts";
import { createTokenCounter } from "../../core/tokens/token-counter.ts";
import { anthropicMessages } from "../../core/wire/anthropic-messages/index.ts";
import { openaiChat } from "../../core/wire/openai/chat/index.ts";
import { openaiResponses } from "../../core/wire/openai/responses/index.ts";
import type { CallOptions, Protocol } from "../../core/wire/protocol.ts";
import type { StreamPart } from "../../core/wire/reply.ts";
import type { Provider, ProviderOptions } from "../../edge/providers/provider.ts";
import { closeAll } from "../../edge/providers/test-kit.ts";
import {
  createAgent,
  createSimulator,
  type Model,
  type Reply,
  type Simulator,
} from "../../simulator/index.ts";
import { openSession } from "../session/open-session.ts";
import type { Session } from "../../core/session/session.ts";
import { summarise, type SummaryDeps, type SummaryAttempt } from "./summarise.ts";
import type { SummaryRequest } from "../../core/turn/compaction/summary-request.ts";
import { connect, say, speak } from "../test-kit.ts";

afterEach(closeAll);

interface World {
  readonly simulator: Simulator;
  readonly provider: Provider;
  readonly session: Session;
  readonly last: CallEntry;
  readonly waits: number[];
  readonly deps: SummaryDeps;
}

interface Setting {
  readonly model?: string;
  readonly protocol?: Protocol;
  readonly policy?: Parameters<typeof findPolicy>[0];
  readonly options?: Partial<CallOptions>;
  /** What the simulated model answers when it is asked for a summary; undefined for a good one. */
  readonly summary?: (attempt: number) => Reply | undefined;
  readonly turns?: number;
  readonly timeouts?: ProviderOptions["timeouts"];
}

const asked = (turn: number): string => {
  const names = Array.from({ length: 120 }, (_, index) => `part${turn}${index}`);
  return `Please look at module number ${turn} and tell what it does. It has ${names.join(", ")}.`;
};

/** A conversation of some turns that the simulator has seen and billed. */
async function openWorld(setting: Setting = {}): Promise<World> {
  const { protocol = anthropicMessages, turns = 4 } = setting;
  const agent = createAgent({ steps: 0 });
  let attempt = 0;
  const model: Model = (prompt) => {
    if (!isSummaryRequest(prompt)) return agent(prompt);
    attempt += 1;
    return setting.summary?.(attempt) ?? agent(prompt);
  };
  const simulator = createSimulator({ seed: 1, model });
  const provider = await connect(simulator, protocol, setting.timeouts);
  let session = openSession({
    model: resolveModel(setting.model ?? "claude-opus-5").facts,
    protocol,
    policy: findPolicy(setting.policy ?? "adaptive"),
    context: { role: "unified", workspaceRules: "Answer briefly. ".repeat(700) },
    counter: cheapCounter,
    pace: "tool loop",
    options: { outputTokensMax: 1_000, stream: false, ...setting.options },
  });
  let last: CallEntry | undefined;
  for (let turn = 1; turn <= turns; turn += 1) {
    const done = await speak(session, provider, asked(turn));
    ({ session } = done);
    last = done.entry;
  }
  if (last === undefined) throw new Error("a conversation has a turn");
  const waits: number[] = [];
  const sleep = (ms: number): Promise<void> => {
    waits.push(ms);
    return Promise.resolve();
  };
  const deps = { provider, now: () => Date.now(), sleep };
  return { simulator, provider, session, last, waits, deps };
}

function isSummaryRequest(prompt: Parameters<Model>[0]): boolean {
  return prompt.turns.at(-1)?.text.includes("## Failed attempts") === true;
}

function requestOf({ session }: World, more: Partial<SummaryRequest> = {}): SummaryRequest {
  return {
    thread: session.thread,
    pending: [],
    history: historyOf(session),
    hasEarlierNotes: false,
    identifiers: [],
    pendingAsks: [asked(4)],
    summaryTokensMax: 1_500,
    countText: (text) => Math.ceil(text.length / 4),
    ...more,
  };
}

function historyOf({ thread }: Session): readonly HistoryMessage[] {
  return [...itemsOf(thread.messages)].map((message, index) => ({
    turnId: `turn-${Math.floor(index / 2)}`,
    index: index % 2,
    message,
    tokens: 300,
  }));
}

function run(world: World, more: Partial<SummaryRequest> = {}): Promise<SummaryAttempt> {
  return summarise(world.session, requestOf(world, more), world.deps);
}

/** What the simulator asked for the last call, to the last digit. */
function picoUsdBilled({ simulator }: World): bigint {
  const [whole = "", part = ""] = (simulator.calls().at(-1)?.billed?.costUsd ?? "")
    .slice(1)
    .split(".");
  return BigInt(whole + part.padEnd(12, "0"));
}

function textOf(outcome: SummaryAttempt): string {
  return outcome.kind === "summary" ? outcome.text : outcome.reasons.join("\n");
}

describe("a summary behind the conversation", () => {
  test.each<[string, Setting]>([
    ["anthropic-messages", {}],
    ["openai-chat", { protocol: openaiChat, model: "gpt-6.1-sol" }],
    ["openai-responses", { protocol: openaiResponses, model: "gpt-6.1-sol" }],
  ])(
    "reads by %s what the last call left in the cache, and pays for what is new",
    async (_, setting) => {
      const world = await openWorld(setting);
      const outcome = await run(world);
      expect(outcome).toMatchObject({ kind: "summary", from: "conversation" });
      expect(textOf(outcome)).toMatch(/^## Task\n- Please look at module number 1 /);
      expect(outcome.calls).toHaveLength(1);
      const usage = outcome.calls[0]?.usage;
      const before = world.last.usage;
      if (usage === null || usage === undefined || before === null) throw new Error("no usage");
      expect(before.uncachedTokens).toBeLessThan(10);
      expect(usage.cacheReadTokens).toBe(promptTokens(before) - before.uncachedTokens);
      // The last reply and the instruction.
      expect(promptTokens(usage) - usage.cacheReadTokens).toBeLessThan(1_000);
      expect(picoUsdBilled(world)).toBe(outcome.calls[0]?.costPicoUsd);
    },
  );

  test("goes on from results that wait, with the very bytes before them", async () => {
    const world = await openWorld();
    const use: Message = {
      role: "assistant",
      content: [{ type: "tool_use", id: "toolu_1", name: "read", inputJson: "{}" }],
    };
    const found: Message = {
      role: "tool",
      content: [
        {
          type: "tool_result",
          toolUseId: "toolu_1",
          content: [{ type: "text", text: "found" }],
          isError: false,
        },
      ],
    };
    const outcome = await run(world, { pending: [say("user", "Read it."), use, found] });
    expect(outcome.kind).toBe("summary");
    expect(outcome.calls[0]?.usage?.cacheReadTokens).toBeGreaterThan(2_000);
  });

  test("finds the prefix also where volatile text stands before the messages", async () => {
    const world = await openWorld({ policy: "metis" });
    expect((await run(world)).calls[0]?.usage?.cacheReadTokens).toBe(
      promptTokens(world.last.usage ?? { ...noUsage }) - (world.last.usage?.uncachedTokens ?? 0),
    );
  });

  test("can be watched as it comes", async () => {
    const world = await openWorld({ options: { stream: true } });
    const parts: string[] = [];
    const onPart = (part: StreamPart): void => {
      if (part.type === "text") parts.push(part.text);
    };
    const outcome = await summarise(world.session, requestOf(world), { ...world.deps, onPart });
    expect(parts.length).toBeGreaterThan(5);
    expect(parts.join("")).toBe(textOf(outcome));
  });

  test("keeps what the session knew of its cache, and adds what the call taught", async () => {
    const world = await openWorld();
    const { cache } = await run(world);
    expect(cache.lastTail).toEqual(world.session.cache.lastTail);
    expect(cache.entries.length).toBeGreaterThanOrEqual(world.session.cache.entries.length);
    const next = await speak({ ...world.session, cache }, world.provider, "Go on.");
    expect(next.entry.verdict).toMatchObject({ kind: "as expected" });
  });
});

function said(text: string): Reply {
  return { parts: [{ kind: "text", text }], stop: "end" };
}

describe("a summariser that fails", () => {
  test.each([
    ["is limited", { kind: "rate limited" as const, retryAfterSeconds: 7 }, [7_000]],
    ["has an error", { kind: "server error" as const }, [1_000]],
    ["is overloaded", { kind: "overloaded" as const }, [1_000]],
    ["cuts the reply", { kind: "cut" as const }, [1_000]],
  ])("once, because it %s, is asked again after a wait", async (_, fault, waits) => {
    const world = await openWorld();
    world.simulator.fault(fault);
    const outcome = await run(world);
    expect(outcome.kind).toBe("summary");
    expect(outcome.calls.map(({ status }) => status)).toEqual(["failed", "complete"]);
    expect(world.waits).toEqual(waits);
  });

  test("because it is too slow is asked again", async () => {
    const world = await openWorld({ timeouts: { firstByteMs: 150 } });
    world.simulator.fault({ kind: "slow first byte", delayMs: 60_000 });
    const outcome = await run(world);
    expect(outcome.kind).toBe("summary");
    expect(outcome.calls.map(({ failure }) => failure?.kind ?? null)).toEqual(["timeout", null]);
  });

  test("three times is given up, with every reason once", async () => {
    const world = await openWorld();
    world.simulator.fault(
      { kind: "server error" },
      { kind: "overloaded" },
      { kind: "server error" },
    );
    const outcome = await run(world);
    expect(outcome).toMatchObject({ kind: "failed", why: "provider" });
    expect(
      outcome.kind === "failed" && outcome.reasons.map((reason) => reason.split(":", 2)),
    ).toEqual([
      ["attempts 1, 3", " server-error"],
      ["attempt 2", " overloaded"],
    ]);
    expect(outcome.calls).toHaveLength(3);
    expect(world.waits).toEqual([1_000, 2_000]);
  });

  test("and wants a long wait is not waited for", async () => {
    const world = await openWorld();
    world.simulator.fault({ kind: "rate limited", retryAfterSeconds: 3_600 });
    expect(await run(world)).toMatchObject({ kind: "failed", why: "provider" });
    expect(world.waits).toEqual([]);
  });

  test.each<[string, Reply, RegExp]>([
    [
      "calls a tool",
      { parts: [{ kind: "tool use", name: "read", inputJson: "{}" }], stop: "tool use" },
      /called a tool/,
    ],
    ["is cut off", { ...said("## Task\nIt"), stop: "output limit" }, /was cut off/],
    ["repeats itself", said("All is well. ".repeat(60)), /the same over and over/],
    [
      "says nothing of use",
      said("Sure, here is the summary you asked for."),
      /lacks these headings/,
    ],
    [
      "is far too long",
      said(Array.from({ length: 1_500 }, (_, index) => `word${index}x`).join(" ")),
      /too long/,
    ],
  ])("because it %s is told so and asked again", async (_, bad, problem) => {
    const world = await openWorld({ summary: (attempt) => (attempt < 3 ? bad : undefined) });
    const outcome = await run(world);
    expect(outcome.kind).toBe("summary");
    expect(outcome.calls).toHaveLength(3);
    expect(outcome.calls.every(({ costPicoUsd }) => (costPicoUsd ?? 0n) > 0n)).toBe(true);
    expect(world.waits).toEqual([]);
    const never = await run(await openWorld({ summary: () => bad }));
    expect(never).toMatchObject({ kind: "failed", why: "refused" });
    expect(textOf(never)).toMatch(problem);
    expect(never.calls).toHaveLength(3);
  });

  test("because it says nothing is told so", async () => {
    const world = await openWorld({ summary: () => ({ parts: [], stop: "end" }) });
    const outcome = await run(world);
    expect(outcome).toMatchObject({ kind: "failed", why: "refused" });
    expect(textOf(outcome)).toContain("attempts 1, 2, 3: It is empty.");
  });

  test("by losing exact strings has them put back in the end, and it is said", async () => {
    const plain = textOf(await run(await openWorld()));
    const world = await openWorld({ summary: () => said(plain) });
    const outcome = await run(world, { identifiers: ["TX-1", "module number 4"] });
    expect(outcome).toMatchObject({ kind: "summary" });
    expect(textOf(outcome)).toMatch(/\n\nAlso named: TX-1$/);
    expect(outcome.calls).toHaveLength(3);
  });

  test("is told which exact strings are wanted", async () => {
    const world = await openWorld();
    const outcome = await run(world, { identifiers: ["TX-1"] });
    expect(outcome).toMatchObject({ kind: "summary" });
    expect(outcome.calls).toHaveLength(1);
  });

  test("for a reason that stays is not asked again", async () => {
    const world = await openWorld();
    const thread = { ...world.session.thread };
    const session = {
      ...world.session,
      options: { ...world.session.options, modelName: "no-such" },
    };
    const outcome = await summarise(session, requestOf(world, { thread }), world.deps);
    expect(outcome).toMatchObject({
      kind: "failed",
      why: "provider",
      calls: [{ failure: { kind: "not-found" } }],
    });
  });
});

describe("cancelling", () => {
  test("before the first attempt sends nothing", async () => {
    const world = await openWorld();
    const count = world.simulator.calls().length;
    const deps = { ...world.deps, signal: AbortSignal.abort() };
    const outcome = await summarise(world.session, requestOf(world), deps);
    expect(outcome).toMatchObject({ kind: "failed", why: "cancelled", calls: [] });
    expect(world.simulator.calls()).toHaveLength(count);
  });

  test("during a wait or a call ends at once", async () => {
    const world = await openWorld();
    const controller = new AbortController();
    world.simulator.fault({ kind: "server error" });
    const sleep = (): Promise<void> => {
      controller.abort();
      return Promise.reject(new Error("cancelled"));
    };
    const deps = { ...world.deps, sleep, signal: controller.signal };
    const waited = await summarise(world.session, requestOf(world), deps);
    expect(waited).toMatchObject({ kind: "failed", why: "cancelled" });
    expect(waited.calls).toHaveLength(1);

    world.simulator.fault({ kind: "slow first byte", delayMs: 60_000 });
    const leaving = new AbortController();
    const sent = world.simulator.calls().length;
    const { signal } = leaving;
    const running = summarise(world.session, requestOf(world), { ...world.deps, signal });
    while (world.simulator.calls().length === sent) await new Promise(setImmediate);
    leaving.abort();
    const left = await running;
    expect(left).toMatchObject({ kind: "failed", why: "cancelled" });
    expect(left.calls).toHaveLength(1);
  });
});

describe("a conversation that does not fit behind an instruction", () => {
  test("is summarised from a transcript after the provider said so, and only once", async () => {
    const world = await openWorld();
    world.simulator.fault({ kind: "overflow", tokens: 213_462, tokensMax: 200_000 });
    const outcome = await run(world);
    expect(outcome).toMatchObject({ kind: "summary", from: "transcript" });
    expect(outcome.calls.map(({ failure }) => failure?.kind ?? null)).toEqual([
      "context-overflow",
      null,
    ]);
  });

  test("fails clearly where the transcript does not fit either", async () => {
    const world = await openWorld();
    const overflow = { kind: "overflow", tokens: 213_462, tokensMax: 200_000 } as const;
    world.simulator.fault(overflow, overflow);
    const outcome = await run(world);
    expect(outcome).toMatchObject({ kind: "failed", why: "overflow" });
    expect(outcome.calls).toHaveLength(2);
    expect(textOf(outcome)).toMatch(/213462 tokens > 200000[\s\S]*213462 tokens > 200000/);
  });

  test("is not sent at all where we know, and is told in parts that are merged", async () => {
    const world = await openWorld({ turns: 12 });
    const model = { ...world.session.model, windowTokens: 6_000, inputTokensMax: 6_000 };
    const outcome = await summarise(
      { ...world.session, model },
      requestOf(world, { summaryTokensMax: 600, pendingAsks: [asked(12)] }),
      world.deps,
    );
    expect(outcome).toMatchObject({ kind: "summary", from: "chunks" });
    expect(textOf(outcome)).toContain("module number 1 ");
    expect(textOf(outcome)).toContain("module number 12 ");
    expect(outcome.calls.length).toBeGreaterThan(3);
    expect(outcome.calls.every(({ failure }) => failure === null)).toBe(true);
  });
});

describe("a model of its own for summaries", () => {
  test("is shown a transcript, and its calls are billed by its own prices", async () => {
    const world = await openWorld();
    const model = resolveModel("claude-haiku-4-5").facts;
    const { provider } = world;
    const counter = createTokenCounter(cheapCounter, model.tokenizer);
    const options = { outputTokensMax: 2_000, stream: false };
    const summariser = { model, protocol: anthropicMessages, provider, counter, options };
    const { start, summary, end } = notesMarkers;
    const text = [start, summary, "## Task\n- Keep TX-9 alive.", end].join("\n");
    const message = { role: "user", content: [{ type: "text", text }] } as const;
    const place = { turnId: "fold", index: 0, compactionPart: "notes" } as const;
    const lead = { ...place, message, tokens: 10 };
    const request = requestOf(world, {
      hasEarlierNotes: true,
      history: [lead, ...historyOf(world.session)],
      identifiers: ["TX-9"],
    });
    const outcome = await summarise(world.session, request, { ...world.deps, summariser });
    expect(outcome).toMatchObject({ kind: "summary", from: "transcript" });
    expect(textOf(outcome)).toContain("TX-9");
    expect(outcome.calls).toMatchObject([{ model: "claude-haiku-4-5", provider: "anthropic" }]);
    expect(outcome.cache).toBe(world.session.cache);
    expect(picoUsdBilled(world)).toBe(outcome.calls[0]?.costPicoUsd);
  });
});
