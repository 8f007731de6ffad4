// Goal: `strata serve --optimize` never costs more than the client's own markers, and changes nothing but markers. Method: clients of
// several kinds talk to the simulator through the gateway, once observed and once optimised, on a clock of the test's own.
import { createHash } from "node:crypto";
import { Anthropic } from "@anthropic-ai/sdk";
import { describe, expect, test, vi } from "vitest";
import { plantedKey } from "../../harness/planted-key.ts";
import { describeObserved } from "../../src/gateway/observe/describe-observed.ts";
import type { ObservedCall } from "../../src/gateway/observed-call.ts";
import { claude, hello, manual } from "../simulator-clients/serve.ts";
import {
  openCapture,
  plays,
  serveOptimized,
  stopClock,
  type OptimizedServe,
  type Play,
  type ServeSetting,
} from "./optimize-kit.ts";

const startMs = Date.UTC(2026, 10, 16, 9);

async function run(play: Play, setting: ServeSetting): Promise<OptimizedServe> {
  const served = await serveOptimized(setting);
  let count = 0;
  vi.setSystemTime(startMs);
  await play(served.url, async (atSeconds) => {
    await served.until(count);
    count += 1;
    vi.setSystemTime(startMs + atSeconds * 1000);
  });
  await served.until(count);
  return served;
}

/** In the order of the conversations. */
function costsOf({ calls }: OptimizedServe): readonly number[] {
  const costs = new Map<string, number>();
  for (const { conversation, costPicoUsd } of calls) {
    costs.set(conversation.id, (costs.get(conversation.id) ?? 0) + Number(costPicoUsd ?? 0n));
  }
  return [...costs.values()];
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** Cost over that of the client's own markers: of all conversations of a kind, and of the dearest one. */
const ratios: Readonly<Record<string, { readonly all: number; readonly worst: number }>> = {
  "a program without any markers": { all: 0.24, worst: 0.24 },
  "a coding agent that marks its system text and its last message": { all: 1.02, worst: 1.02 },
  "a coding agent whose user pauses for twenty minutes": { all: 0.52, worst: 0.52 },
  "an agent that marks its last two messages": { all: 1.02, worst: 1.02 },
  // None of them pays for what only others read; keep-warm.test.ts has what a call of the gateway's own makes of it.
  "questions that are asked once, with and without a marker": { all: 1, worst: 1.03 },
  "sub-agents with one system text": { all: 1, worst: 1 },
  "OpenAI with breakpoints of the client": { all: 1, worst: 1 },
  "OpenAI without any": { all: 1, worst: 1 },
  "OpenAI with tools, many messages at once, and pauses": { all: 0.41, worst: 0.41 },
};

describe("what clients of every kind pay", () => {
  const all: { client: number; sent: number } = { client: 0, sent: 0 };

  test.each(Object.entries(plays))("%s", async (name, play) => {
    stopClock();
    const observed = costsOf(await run(play, { isOptimizing: false }));
    const optimized = await run(play, { isOptimizing: true });
    const costs = costsOf(optimized);
    const each = costs.map((cost, at) => cost / (observed[at] ?? 0));
    expect(costs).toHaveLength(observed.length);
    expect(sum(costs) / sum(observed)).toBeLessThanOrEqual(ratios[name]?.all ?? 0);
    expect(Math.max(...each)).toBeLessThanOrEqual(ratios[name]?.worst ?? 0);
    // The account beside says the same of the client's markers as the provider did.
    const told = sum(optimized.calls.map((call) => Number(call.clientCostPicoUsd ?? 0n)));
    expect(Math.abs(told / sum(observed) - 1)).toBeLessThan(0.001);
    all.client += sum(observed);
    all.sent += sum(costs);
  });

  test("questions that are asked once, with calls of the gateway's own", async () => {
    stopClock();
    const play = plays["questions that are asked once, with and without a marker"];
    if (play === undefined) throw new Error("there are such questions");
    const observed = costsOf(await run(play, { isOptimizing: false }));
    const yaml =
      "gateway: { optimize: { holdout: 0, wait_ms: 5000, keep_warm: { usd_per_hour: 1 } } }";
    const { calls } = await run(play, { isOptimizing: true, yaml });
    const own = calls.filter(({ purpose }) => purpose !== undefined);
    expect(own.map(({ purpose, status }) => ({ purpose, status }))).toEqual([
      { purpose: "prewarm", status: "complete" },
    ]);
    const asked = calls.filter(({ purpose }) => purpose === undefined);
    const each = asked.map(({ costPicoUsd }, at) => Number(costPicoUsd) / (observed[at] ?? 0));
    expect(Math.max(...each)).toBeLessThanOrEqual(1.03);
    const paid = calls.map(({ costPicoUsd }) => Number(costPicoUsd));
    expect(sum(paid) / sum(observed)).toBeLessThanOrEqual(0.75);
  });

  test("together they pay less than two thirds", () => {
    expect(all.sent / all.client).toBeLessThan(0.66);
    expect(all.sent).toBeGreaterThan(0);
  });
});

const capturing =
  "gateway: { optimize: { holdout: 0, wait_ms: 5000, upstreams: [anthropic, openai] } }";
const string = String.raw`"(?:[^"\\]|\\.)*"`;
const name = String.raw`(?<!\\)"(?:cache_control|prompt_cache_breakpoint)":\{[^{}]*\}`;

/** By patterns on text without white space between tokens. A list with one text is written as the text. */
function withoutMarkers(body: Buffer): string {
  return body
    .toString()
    .replace(new RegExp(`,${name}|${name},`, "g"), "")
    .replace(/,"prompt_cache_options":\{[^{}]*\}/, "")
    .replace(new RegExp(`\\[\\{"type":"(?:input_)?text","text":(${string})\\}\\]`, "g"), "$1");
}

test.each(Object.entries(plays))(
  "outside of markers every byte is the client's: %s",
  async (_name, play) => {
    stopClock();
    const [asked, sent]: [Buffer[], Buffer[]] = [[], []];
    await run(play, { isOptimizing: false, upstreams: await openCapture(asked), yaml: capturing });
    await run(play, { isOptimizing: true, upstreams: await openCapture(sent), yaml: capturing });
    expect(sent).toHaveLength(asked.length);
    for (const [at, body] of sent.entries()) {
      expect(withoutMarkers(body)).toBe(withoutMarkers(asked[at] ?? Buffer.alloc(0)));
      expect(() => JSON.parse(body.toString()) as unknown).not.toThrow();
    }
  },
);

/** Sends one request; the hashes of its body as it was sent and as it arrived. */
async function ask(
  yaml: string,
  body: Anthropic.MessageCreateParamsNonStreaming & Record<string, unknown>,
  headers: Record<string, string> = {},
): Promise<{ readonly call: ObservedCall | undefined; readonly hashes: readonly string[] }> {
  const bodies: Buffer[] = [];
  const served = await serveOptimized({
    isOptimizing: true,
    yaml,
    upstreams: await openCapture(bodies),
  });
  const client = new Anthropic({
    baseURL: served.url,
    apiKey: plantedKey,
    maxRetries: 0,
    logLevel: "off",
  });
  await client.messages.create(body, { headers }).catch(() => {});
  await served.until(1);
  return { call: served.calls[0], hashes: [sha(JSON.stringify(body)), ...bodies.map(sha)] };
}

describe("what is left alone", () => {
  const question = { model: claude, max_tokens: 100, system: manual, messages: hello };
  const look: Anthropic.Tool = { name: "look", input_schema: { type: "object" } };
  const tools = [look];

  test("nothing: the conversation gets our markers, and its line says so", async () => {
    const { call, hashes } = await ask(capturing, { ...question, tools });
    expect(call).toMatchObject({ arm: "strata", policy: "adaptive" });
    expect(call?.markers.length).toBeGreaterThan(0);
    expect(hashes[0]).not.toBe(hashes[1]);
    expect(call === undefined ? "" : describeObserved(call)).toMatch(
      / {2}optimised, not \$0\.0\d+ {2}/,
    );
  });

  test.each([
    ["a conversation that is held out", "holdout: 100", {}, {}, "holdout"],
    ["a client that is not named", "clients: [codex]", {}, {}, undefined],
    ["an upstream that is not named", "upstreams: [openai]", {}, {}, undefined],
    ["a login", "holdout: 0", {}, { authorization: "Bearer sk-ant-oat01-planted" }, undefined],
    ["a body with a hash in its headers", "holdout: 0", {}, { "content-md5": "x" }, undefined],
    ["a thread of the provider", "holdout: 0", { thread: { type: "continue" } }, {}, "strata"],
    [
      "a marker on a tool that is not in the prompt",
      "holdout: 0",
      { tools: [{ ...look, defer_loading: true, cache_control: { type: "ephemeral" as const } }] },
      {},
      "strata",
    ],
    ["a model that is not listed", "holdout: 0", { model: "nobody-knows" }, {}, "strata"],
  ])("%s", async (_what, setting, more, headers, arm) => {
    const limits = setting.includes("upstreams") ? "" : "upstreams: [anthropic], ";
    const yaml = `gateway: { optimize: { wait_ms: 5000, ${limits}${setting} } }`;
    const { call, hashes } = await ask(yaml, { ...question, tools, ...more }, headers);
    expect(hashes[1]).toBe(hashes[0]);
    expect(call?.policy).toBeUndefined();
    expect(call?.arm).toBe(arm);
  });
});

function sha(body: string | Buffer): string {
  return createHash("sha256").update(body).digest("hex");
}
