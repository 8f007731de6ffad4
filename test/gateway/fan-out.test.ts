// Goal: agents that start at once with the same tools and system text write them once. Method: five of them at a time through the
// gateway, before a simulator whose answers take a moment to begin, as providers' do.
import { expect, test } from "vitest";
import { plantedKey } from "../../harness/planted-key.ts";
import { formatUsd } from "../../src/core/models/pico-usd.ts";
import type { ObservedCall } from "../../src/gateway/observed-call.ts";
import { createAgent, createSimulator } from "../../src/simulator/index.ts";
import { claude, manual } from "../simulator-clients/serve.ts";
import { bytesOf, openUpstream } from "./kit.ts";
import { serveOptimized, type OptimizedServe } from "./optimize-kit.ts";

const agents = 5;
const marker = { cache_control: { type: "ephemeral" } };

/** `together`: how many requests the provider gets before it begins with any of them. */
async function open(fanOutMs: number, firstByteMs: number, together = 1): Promise<OptimizedServe> {
  const simulator = createSimulator({ model: createAgent(), seed: 1, latency: { firstByteMs } });
  const all = Promise.withResolvers<void>();
  let count = 0;
  const url = await openUpstream(async (incoming, outgoing) => {
    const body = await bytesOf(incoming);
    count += 1;
    if (count >= together) all.resolve();
    await all.promise;
    const headers = new Headers();
    for (const [name, value] of Object.entries(incoming.headers)) {
      if (typeof value === "string" && name !== "host") headers.set(name, value);
    }
    const asked = { method: "POST", headers, body: body.toString() };
    const answer = await simulator.fetch(`http://127.0.0.1${incoming.url ?? ""}`, asked);
    outgoing.writeHead(answer.status, Object.fromEntries(answer.headers));
    outgoing.end(Buffer.from(await answer.arrayBuffer()));
  });
  return serveOptimized({
    isOptimizing: true,
    yaml: `gateway: { optimize: { holdout: 0, wait_ms: 5000, fan_out_ms: ${fanOutMs}, upstreams: [anthropic] } }`,
    upstreams: new Map([["anthropic", { baseUrl: url, protocol: null, headers: new Map() }]]),
  });
}

async function start(
  url: string,
  agent: number,
  system = manual,
  signal: AbortSignal | null = null,
): Promise<number> {
  const response = await fetch(`${url}/v1/messages`, {
    method: "POST",
    signal,
    headers: {
      "content-type": "application/json",
      "anthropic-version": "2023-06-01",
      "x-api-key": plantedKey,
      "x-claude-code-session-id": "s-1",
      "x-claude-code-agent-id": `agent-${agent}`,
    },
    body: JSON.stringify({
      model: claude,
      max_tokens: 500,
      tools: [{ name: "look", description: "Looks.", input_schema: { type: "object" } }],
      system: [{ type: "text", text: system, ...marker }],
      messages: [{ role: "user", content: `Task ${agent}. ${"Do it well. ".repeat(20)}` }],
    }),
  });
  await response.text();
  return response.status;
}

async function startAll(served: OptimizedServe): Promise<readonly ObservedCall[]> {
  const all = Array.from({ length: agents }, (_, agent) => start(served.url, agent));
  expect(await Promise.all(all)).toEqual(all.map(() => 200));
  await served.until(agents);
  return served.calls;
}

function cost(calls: readonly ObservedCall[]): string {
  return formatUsd(calls.reduce((sum, { costPicoUsd }) => sum + (costPicoUsd ?? 0n), 0n));
}

function readers(calls: readonly ObservedCall[]): number {
  return calls.filter(({ usage }) => (usage?.cacheReadTokens ?? 0) > 0).length;
}

test("siblings that start at once write their common prefix once, not each", async () => {
  const alone = await startAll(await open(0, 200, agents));
  const together = await startAll(await open(30_000, 80));
  expect({ alone: readers(alone), together: readers(together) }).toEqual({
    alone: 0,
    together: agents - 1,
  });
  expect({ alone: cost(alone), together: cost(together) }).toEqual({
    alone: "$0.05742",
    together: "$0.0199128",
  });
});

test("the wait has an end, and another prefix is not waited for", async () => {
  const served = await open(50, 700);
  const others = `Others. ${manual}`;
  await Promise.all([start(served.url, 1), start(served.url, 2), start(served.url, 3, others)]);
  await served.until(3);
  // The second one went before the answer to the first one had begun.
  expect(readers(served.calls)).toBe(0);
  expect(await waited(served)).toBe(1);
});

test("a first one whose client leaves lets the others go", async () => {
  const served = await open(60_000, 700);
  const leaving = new AbortController();
  const first = start(served.url, 1, manual, leaving.signal).catch(() => "left");
  await expect.poll(() => exchanges(served)).toMatchObject({ open: 1 });
  const other = start(served.url, 2);
  await expect.poll(() => waited(served)).toBe(1);
  leaving.abort();
  expect(await first).toBe("left");
  expect(await other).toBe(200);
});

interface Health {
  readonly exchanges: { readonly open: number };
  readonly optimize: { readonly waited: number };
}

async function health({ url }: OptimizedServe): Promise<Health> {
  return (await (await fetch(`${url}/strata/health`)).json()) as Health;
}

async function exchanges(served: OptimizedServe): Promise<Health["exchanges"]> {
  return (await health(served)).exchanges;
}

async function waited(served: OptimizedServe): Promise<number> {
  return (await health(served)).optimize.waited;
}
