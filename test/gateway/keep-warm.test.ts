// Goal: calls of the gateway's own keep or write a cache where that saves money, within a budget, and are in the bill. Method: an agent
// whose user goes away, and single questions, against the simulator; every timer and clock is the test's.
import { expect, onTestFinished, test, vi } from "vitest";
import { plantedKey } from "../../harness/planted-key.ts";
import type { Ledger } from "../../src/core/ledger/ledger.ts";
import { builtInCatalogue } from "../../src/core/models/catalogue.ts";
import { formatUsd } from "../../src/core/models/pico-usd.ts";
import { openLedger } from "../../src/edge/stores/open-ledger.ts";
import { createObserver } from "../../src/gateway/observe/observer.ts";
import { describeObserved } from "../../src/gateway/observe/describe-observed.ts";
import type { ObservedCall } from "../../src/gateway/observed-call.ts";
import type { OptimizeSettings } from "../../src/gateway/optimize/may-mark.ts";
import { createOptimizer } from "../../src/gateway/optimize/optimizer.ts";
import { createWarmKeeper, type WarmKeeper } from "../../src/gateway/warm/warm-keeper.ts";
import { createAgent, createSimulator } from "../../src/simulator/index.ts";
import { gatewayCall } from "../ledger/gateway-kit.ts";
import { claude, manual } from "../simulator-clients/serve.ts";

type Fields = Record<string, unknown>;

const startMs = Date.UTC(2026, 10, 16, 9);
const address = "http://127.0.0.1/v1/messages";
const headers = {
  "content-type": "application/json",
  "anthropic-version": "2023-06-01",
  "x-api-key": plantedKey,
};

interface Gateway {
  readonly calls: readonly ObservedCall[];
  readonly keeper: WarmKeeper;
  /** Bodies of the gateway's own calls. */
  readonly own: readonly Fields[];
  /** Timers that are set. */
  readonly timers: readonly { readonly atMs: number }[];
  /** Moves the clock, and runs what is due on the way. */
  advanceTo(atMs: number): Promise<void>;
  ask(body: Fields, login?: boolean): Promise<void>;
}

const settings: OptimizeSettings = {
  share: 100,
  holdout: 0,
  upstreams: [],
  clients: [],
  logins: true,
  repairs: [],
  fanOutMs: 0,
  diagnose: false,
  keepWarm: { usdPerHour: 1, logins: false },
};

interface GatewayWish {
  readonly usdPerHour?: number;
  readonly logins?: boolean;
  /** Of the ledger that it shares with others. */
  readonly listWarming?: Ledger["listWarming"];
}

/** Without sockets. */
function openGateway({ usdPerHour = 1, logins = false, listWarming }: GatewayWish = {}): Gateway {
  const simulator = createSimulator({
    model: createAgent(),
    seed: 1,
    clock: { virtualStartMs: startMs },
  });
  const nowMs = (): number => simulator.clock.now();
  const calls: ObservedCall[] = [];
  const own: Fields[] = [];
  let timers: { readonly atMs: number; readonly run: () => void }[] = [];
  const keeping = { usdPerHour, logins };
  const keeper = createWarmKeeper({
    settings: keeping,
    nowMs,
    onWarmed: (call) => calls.push(call),
    onFault: (error) => expect.unreachable(String(error)),
    ...(listWarming && { listWarming }),
    after: (delayMs, run) => {
      const timer = { atMs: nowMs() + delayMs, run };
      timers.push(timer);
      return () => {
        timers = timers.filter((each) => each !== timer);
      };
    },
  });
  const observer = createObserver({
    nowMs,
    rewriter: createOptimizer({
      settings,
      catalogue: builtInCatalogue,
      isVendor: () => true,
      keeping: usdPerHour === 0 ? null : { keeper, settings: keeping },
    }),
    sink: {
      take: (call) => {
        calls.push(call);
        keeper.saw(call);
      },
    },
  });
  let exchanges = 0;
  const send = (body: readonly Uint8Array[]): Promise<Response> =>
    simulator.fetch(address, { method: "POST", headers, body: Buffer.concat(body).toString() });
  return {
    calls,
    keeper,
    own,
    get timers() {
      return timers;
    },
    advanceTo: async (atMs) => {
      for (;;) {
        const due = timers.find((each) => each.atMs <= atMs);
        if (due === undefined) break;
        timers = timers.filter((each) => each !== due);
        await simulator.clock.advance(Math.max(0, due.atMs - nowMs()));
        const done = (): number => calls.length + keeper.counts().skipped;
        const before = done();
        due.run();
        await vi.waitFor(() => expect(done()).toBe(before + 1), { interval: 1 });
      }
      await simulator.clock.advance(atMs - nowMs());
    },
    ask: async (body, usesLogin = false) => {
      exchanges += 1;
      const from = nowMs();
      const observation = observer.begin({
        id: `exchange ${exchanges}`,
        startMs: from,
        method: "POST",
        path: "/v1/messages",
        headers: { "content-type": "application/json" },
        upstream: "anthropic",
        account: "one",
        usesLogin,
        resend: async (again) => {
          own.push(JSON.parse(Buffer.concat(again).toString()) as Fields);
          const answer = await send(again);
          return {
            status: answer.status,
            headers: Object.fromEntries(answer.headers),
            bytes: new Uint8Array(await answer.arrayBuffer()),
          };
        },
      });
      const pieces = [Buffer.from(JSON.stringify(body))];
      const sent = (await observation?.rewrite?.(pieces)) ?? pieces;
      observation?.requestBody(sent);
      const answer = await send(sent);
      expect(answer.status).toBe(200);
      observation?.responseHead(200, Object.fromEntries(answer.headers));
      observation?.responseBytes(new Uint8Array(await answer.arrayBuffer()));
      observation?.end({ how: "complete", endMs: from, firstByteMs: from });
    },
  };
}

const tools = ["Bash", "Read"].map((name) => ({
  name,
  description: `${name} does what its name says. `.repeat(40),
  input_schema: { type: "object", properties: { path: { type: "string" } } },
}));

/** Long files are read before its user goes away. */
function step(call: number): Fields {
  const messages = Array.from({ length: 2 * call + 1 }, (_, at): Fields => {
    const isLong = at === 18 || at === 38;
    return at % 2 === 0
      ? { role: "user", content: `Step ${at / 2}. ${"It fails so. ".repeat(isLong ? 5000 : 100)}` }
      : { role: "assistant", content: `I look. ${"Then I see. ".repeat(20)}` };
  });
  return { model: claude, max_tokens: 500, stream: true, system: manual, tools, messages };
}

/** Its user is away for seven minutes after every tenth step. */
async function work(gateway: Gateway, login = false): Promise<void> {
  for (let call = 0; call < 21; call += 1) {
    await gateway.advanceTo(startMs + call * 20_000 + Math.floor(call / 10) * 420_000);
    await gateway.ask(step(call), login);
  }
}

function cost(calls: readonly ObservedCall[]): bigint {
  return calls.reduce((sum, { costPicoUsd }) => sum + (costPicoUsd ?? 0n), 0n);
}

function isOwn({ purpose }: ObservedCall): boolean {
  return purpose !== undefined;
}

test("a prefix that would expire is asked for again, once in a pause, where that saves money", async () => {
  const plain = openGateway({ usdPerHour: 0 });
  await work(plain);
  const kept = openGateway();
  await work(kept);
  const own = kept.calls.filter(isOwn);
  const totals = { plain: cost(plain.calls), kept: cost(kept.calls), own: cost(own) };
  expect(Object.values(totals).map(formatUsd)).toEqual(["$0.5383746", "$0.3154191", "$0.0128197"]);
  expect(own.map(({ startMs: at }) => at - startMs)).toEqual([465_000, 1_085_000]);
  for (const call of own) {
    expect(call).toMatchObject({ purpose: "keep_warm", status: "complete", arm: "strata" });
    // The client would not have sent it: all that it cost is in the comparison.
    expect(call).toMatchObject({
      clientCostPicoUsd: 0n,
      addedBlocks: [],
      markers: expect.any(Array),
    });
    expect(call.usage).toMatchObject({ outputTokens: 0, cacheWriteTokens: {} });
    expect(describeObserved(call)).toContain("unknown kept warm claude-sonnet-5-5");
  }
  const numbers = kept.calls.map(({ conversation }) => conversation.callNumber);
  expect(numbers).toEqual(Array.from({ length: 23 }, (_, at) => at + 1));
  expect(new Set(kept.calls.map(({ conversation }) => conversation.id)).size).toBe(1);
  expect(kept.keeper.counts()).toMatchObject({
    sent: 2,
    failed: 0,
    skipped: 0,
    spentPicoUsd: cost(own),
  });
});

function unmarked(value: unknown): string {
  return JSON.stringify(value).replace(/,?"cache_control":\{[^{}]*\}/g, "");
}

test("it is the client's last request, with no answer asked for", async () => {
  const gateway = openGateway();
  await work(gateway);
  const [first] = gateway.own;
  const { max_tokens: length, stream, messages, ...rest } = first ?? {};
  expect({ length, stream }).toEqual({ length: 0, stream: false });
  const { messages: asked, system, tools: sentTools } = step(9);
  expect((messages as Fields[]).length).toBe((asked as Fields[]).length);
  expect(unmarked(rest["tools"])).toBe(unmarked(sentTools));
  expect(unmarked(rest["system"])).toContain(unmarked(system).slice(1, -1));
});

test.each([
  ["the budget of an hour is too small for the dearest that it may become", { usdPerHour: 0.1 }, 2],
  ["there is no budget", { usdPerHour: 0 }, 0],
])("nothing is sent where %s", async (_what, options, skipped) => {
  const gateway = openGateway(options);
  await work(gateway);
  expect(gateway.own).toEqual([]);
  expect(gateway.calls.filter(isOwn)).toEqual([]);
  expect(gateway.keeper.counts()).toMatchObject({ sent: 0, skipped, spentPicoUsd: 0n });
});

test("what another gateway of the ledger spent within the hour is part of the budget", async () => {
  const ledger = await openLedger(":memory:");
  onTestFinished(() => ledger.close());
  // It leaves too little until an hour after it, which is between the two pauses.
  const spent = { costPicoUsd: 950_000_000_000n, clientCostPicoUsd: 0n, plainCostPicoUsd: 0n };
  const at = startMs - 2_900_000;
  const times = { startMs: at, firstByteMs: null, endMs: at + 900 };
  const other = { ...spent, ...times, purpose: "keep_warm" } as const;
  await ledger.recordCalls([gatewayCall("another", 1, other)]);
  const gateway = openGateway({ listWarming: (sinceMs) => ledger.listWarming(sinceMs) });
  await work(gateway);
  expect(gateway.keeper.counts()).toMatchObject({ sent: 1, skipped: 1 });
  expect(gateway.calls.filter(isOwn).map((call) => call.startMs - startMs)).toEqual([1_085_000]);
});

test("while the ledger cannot be asked, each gateway counts what it spent itself", async () => {
  const gateway = openGateway({ listWarming: () => Promise.reject(new Error("gone")) });
  await work(gateway);
  expect(gateway.keeper.counts()).toMatchObject({ sent: 2, skipped: 0 });
});

test("a login is used only where that is said", async () => {
  const gateway = openGateway();
  await work(gateway, true);
  expect(gateway.own).toEqual([]);
  const told = openGateway({ logins: true });
  await work(told, true);
  expect(told.own).toHaveLength(2);
});

test("a client's key is held until its next call, and not after the end", async () => {
  const gateway = openGateway();
  for (let call = 0; call < 10; call += 1) {
    await gateway.advanceTo(startMs + call * 20_000);
    await gateway.ask(step(call));
  }
  expect(gateway.timers).toHaveLength(1);
  expect(gateway.keeper.counts().waiting).toBe(1);
  await gateway.advanceTo(startMs + 200_000);
  await gateway.ask(step(10));
  expect(gateway.timers.length).toBe(gateway.keeper.counts().waiting);
  gateway.keeper.close();
  expect(gateway.timers).toEqual([]);
  expect(gateway.keeper.counts().waiting).toBe(0);
});

/** Single questions that have a long system text in common. */
async function question(gateway: Gateway): Promise<void> {
  for (let number = 0; number < 14; number += 1) {
    await gateway.advanceTo(startMs + number * 40_000);
    const messages = [
      { role: "user", content: `Question ${number}: ${"Why is that so? ".repeat(20)}` },
    ];
    await gateway.ask({ model: claude, max_tokens: 500, system: manual, messages });
    const due = gateway.timers.length;
    await gateway.advanceTo(startMs + number * 40_000 + 1);
    expect(gateway.timers).toHaveLength(0);
    expect(due).toBeLessThanOrEqual(1);
  }
}

test("none of many questions pays for the others: their common head is written ahead of them", async () => {
  const plain = openGateway({ usdPerHour: 0 });
  await question(plain);
  const warm = openGateway();
  await question(warm);
  const own = warm.calls.filter(isOwn);
  const asked = warm.calls.filter((call) => !isOwn(call));
  const totals = { plain: cost(plain.calls), all: cost(warm.calls), own: cost(own) };
  expect(Object.values(totals).map(formatUsd)).toEqual(["$0.128884", "$0.0504222", "$0.009683"]);
  expect(own).toHaveLength(1);
  expect(own[0]).toMatchObject({
    purpose: "prewarm",
    conversation: { kind: "single", callNumber: 1 },
  });
  expect(own[0]?.addedBlocks.map(({ section }) => section)).toEqual(["system block 0"]);
  const each = asked.map(
    (call, at) => Number(call.costPicoUsd) / Number(plain.calls[at]?.costPicoUsd),
  );
  expect(Math.max(...each)).toBeLessThanOrEqual(1.03);
  expect(Number(totals.all) / Number(totals.plain)).toBeLessThan(0.5);
  expect(warm.own[0]).toMatchObject({ max_tokens: 0, messages: [{ role: "user", content: "." }] });
});

test("a head of several blocks is written in parts, none of them for more than 3 % of a question", async () => {
  const gateway = openGateway({ usdPerHour: 0 });
  const system = Array.from({ length: 24 }, (_, at) => ({
    type: "text",
    text: `Rule ${at}. ${manual.slice(0, 4000)}`,
  }));
  for (let number = 0; number < 8; number += 1) {
    await gateway.advanceTo(startMs + number * 40_000);
    const messages = [{ role: "user", content: `Question ${number}: why is that so?` }];
    await gateway.ask({ model: claude, max_tokens: 500, system, messages });
  }
  for (const { costPicoUsd, clientCostPicoUsd } of gateway.calls) {
    expect(Number(costPicoUsd) / Number(clientCostPicoUsd)).toBeLessThanOrEqual(1.03);
  }
  const read = gateway.calls.map(({ usage }) => usage?.cacheReadTokens ?? 0);
  expect(read).toEqual([0, 0, 0, 2822, 16_932, 33_864, 33_864, 33_864]);
});
