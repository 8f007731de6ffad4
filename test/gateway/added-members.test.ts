// Goal: with `--optimize` a router is asked for the host that has a conversation's cache, and Anthropic, where wished, why its cache missed.
// Method: conversations through the gateway before the simulator, whose router has hosts with a cache each.
import { expect, onTestFinished, test } from "vitest";
import { plantedKey } from "../../harness/planted-key.ts";
import { describeObserved } from "../../src/gateway/observe/describe-observed.ts";
import { createAgent, createSimulator } from "../../src/simulator/index.ts";
import { manual } from "../simulator-clients/serve.ts";
import { openCapture, serveOptimized, type OptimizedServe } from "./optimize-kit.ts";

type Fields = Record<string, unknown>;

const tool = { name: "look", description: "Looks.", input_schema: { type: "object" } };

function messages(call: number): Fields[] {
  return Array.from({ length: 2 * call + 1 }, (_, at): Fields =>
    at % 2 === 0
      ? { role: "user", content: `Step ${at / 2}. ${"It fails. ".repeat(60)}` }
      : { role: "assistant", content: "I look." },
  );
}

async function ask(served: OptimizedServe, path: string, body: Fields): Promise<void> {
  const before = served.calls.length;
  const response = await fetch(`${served.url}${path}`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "anthropic-version": "2023-06-01",
      "x-api-key": plantedKey,
    },
    body: JSON.stringify(body),
  });
  expect({ status: response.status, text: await response.text() }).toMatchObject({ status: 200 });
  await served.until(before + 1);
}

function claudeCall(call: number, more: Fields = {}): Fields {
  return {
    model: "claude-sonnet-4-5",
    max_tokens: 100,
    tools: [tool],
    system: manual,
    messages: messages(call),
    ...more,
  };
}

test("Anthropic says why its cache missed, beside our own verdict", async () => {
  const served = await serveOptimized({
    isOptimizing: true,
    yaml: "gateway: { optimize: { holdout: 0, wait_ms: 5000, diagnose: true } }",
  });
  await ask(served, "/v1/messages", claudeCall(0));
  await ask(served, "/v1/messages", claudeCall(1));
  await ask(served, "/v1/messages", claudeCall(2, { tools: [{ ...tool, description: "Sees." }] }));
  const [first, second, third] = served.calls;
  // The first has nothing to be compared with.
  expect(first?.diagnosis).toBeUndefined();
  expect(second?.diagnosis).toEqual({ says: "no difference", agreement: "agrees" });
  expect(third?.explanation?.cause).toBe("tools changed");
  expect(third?.diagnosis).toEqual({ says: "tools_changed", agreement: "agrees" });
  expect(third === undefined ? "" : describeObserved(third)).toMatch(
    /missed .*tools changed.*; the provider says: tools_changed$/,
  );
});

test.each([
  ["unless it is wished", "", {}],
  [
    "where the client asks itself",
    "diagnose: true",
    { diagnostics: { previous_message_id: null } },
  ],
])("it is not asked %s", async (_when, setting, more) => {
  const served = await serveOptimized({
    isOptimizing: true,
    yaml: `gateway: { optimize: { holdout: 0, wait_ms: 5000, ${setting} } }`,
  });
  await ask(served, "/v1/messages", claudeCall(0, more));
  await ask(served, "/v1/messages", claudeCall(1, more));
  expect(served.calls.map(({ diagnosis }) => diagnosis)).toEqual([undefined, undefined]);
});

test("another server of the same API is not asked", async () => {
  const bodies: Buffer[] = [];
  const served = await serveOptimized({
    isOptimizing: true,
    yaml: "gateway: { optimize: { holdout: 0, wait_ms: 5000, diagnose: true, upstreams: [anthropic] } }",
    upstreams: await openCapture(bodies),
  });
  await ask(served, "/v1/messages", claudeCall(0));
  expect(JSON.parse(bodies[0]?.toString() ?? "")).not.toHaveProperty("diagnostics");
});

/** A gateway before a router with many hosts, and what the router was sent. */
async function serveRouted(optimizes: boolean): Promise<OptimizedServe> {
  const simulator = await createSimulator({
    model: createAgent(),
    seed: 7,
    // No host is too busy.
    openrouter: { passesOver: 0 },
  }).listen();
  onTestFinished(() => simulator.close());
  return serveOptimized({
    isOptimizing: optimizes,
    yaml: "gateway: { optimize: { holdout: 0, wait_ms: 5000, upstreams: [openrouter] } }",
    upstreams: new Map([
      ["openrouter", { baseUrl: `${simulator.url}/api/v1`, protocol: null, headers: new Map() }],
    ]),
  });
}

async function hostsOf(served: OptimizedServe, more: Fields = {}): Promise<readonly string[]> {
  for (let call = 0; call < 12; call += 1) {
    await ask(served, "/openrouter/v1/chat/completions", {
      model: "deepseek/deepseek-v4.1-flash",
      max_tokens: 100,
      messages: [{ role: "system", content: manual }, ...messages(call)],
      ...more,
    });
  }
  return served.calls.map(({ servedBy }) => servedBy ?? "");
}

function changesIn(hosts: readonly string[]): number {
  return hosts.filter((host, at) => at > 0 && host !== hosts[at - 1]).length;
}

test("a router is asked for the host that answered before", async () => {
  const free = await hostsOf(await serveRouted(false));
  const pinned = await hostsOf(await serveRouted(true));
  expect({ free: changesIn(free), pinned: changesIn(pinned) }).toEqual({ free: 4, pinned: 0 });
});

test("a client's own choice of hosts stays", async () => {
  const own = { provider: { order: ["no-such-host"], allow_fallbacks: true } };
  expect(await hostsOf(await serveRouted(true), own)).toEqual(
    await hostsOf(await serveRouted(false), own),
  );
});
