// Goal: an agent of LangChain costs what ours would, by one middleware. Method: the real packages drive the simulator.
import { join } from "node:path";
import { ChatAnthropic } from "@langchain/anthropic";
import { FakeListChatModel } from "@langchain/core/utils/testing";
import { createAgent, tool } from "langchain";
import { expect, onTestFinished, test } from "vitest";
import { askAgent } from "../../examples/langchain.ts";
import { countDifferent } from "../../bench/integrations/same-meaning.ts";
import { connect } from "../../examples/connect.ts";
import { plantedKey } from "../../harness/planted-key.ts";
import { openLedger } from "../../src/edge/stores/open-ledger.ts";
import type { ObservedCall } from "../../src/gateway/index.ts";
import { strataMiddleware } from "../../src/integrations/langchain/index.ts";
import { createScripted, createSimulator } from "../../src/simulator/index.ts";
import { newFolder } from "../api/kit.ts";
import { manual } from "../simulator-clients/serve.ts";

function play(): { readonly model: ChatAnthropic; readonly bodies: Record<string, unknown>[] } {
  const simulator = createSimulator({
    seed: 1,
    model: createScripted([
      { toolCalls: [{ name: "look", input: { path: "a.ts" } }] },
      { toolCalls: [{ name: "count", input: { path: "a.ts" } }] },
      { times: "always", text: "It is short." },
    ]),
  });
  const bodies: Record<string, unknown>[] = [];
  const model = new ChatAnthropic({
    model: "claude-sonnet-5-5",
    anthropicApiKey: plantedKey,
    maxRetries: 0,
    clientOptions: {
      fetch: async (input, init) => {
        const request = new Request(input, init);
        const body = await request.text();
        bodies.push(JSON.parse(body));
        const { method, headers, url } = request;
        const { pathname } = new URL(url);
        return simulator.fetch(`http://localhost${pathname}`, { method, headers, body });
      },
    },
  });
  return { model, bodies };
}

const schema = { type: "object", properties: { path: { type: "string" } } } as const;
const tools = ["look", "count"].map((name) =>
  tool(() => "three lines", { name, description: `${name}s at a file`, schema }),
);
const asked = { messages: [{ role: "user", content: "How long is a.ts?" }] };

test("an agent's calls are marked, their tools sorted, and each is recorded with its cost", async () => {
  const { model, bodies } = play();
  const store = join(newFolder(), "ledger.db");
  const calls: ObservedCall[] = [];
  const strata = strataMiddleware({
    store,
    vendor: "anthropic",
    waitMsMax: 30_000,
    onCall: (call) => calls.push(call),
  });
  const agent = createAgent({ model, tools, systemPrompt: manual, middleware: [strata] });
  const { messages } = await agent.invoke(asked);
  expect(messages.at(-1)?.text).toBe("It is short.");
  await strata.close();
  expect(bodies).toHaveLength(3);
  const markers = bodies.map((body) => JSON.stringify(body).split('"cache_control"').length - 1);
  expect(markers).toEqual([2, 3, 4]);
  for (const body of bodies) {
    expect(body["tools"]).toMatchObject([{ name: "count" }, { name: "look" }]);
  }
  expect(calls.map(({ usage }) => (usage?.cacheReadTokens ?? 0) > 0)).toEqual([false, true, true]);
  const ledger = await openLedger(store);
  onTestFinished(() => ledger.close());
  const [session] = await ledger.listSessions({ origin: "gateway" });
  expect(await ledger.readGatewayCalls(session?.id ?? "")).toHaveLength(3);
  expect(session?.costPicoUsd).toBeGreaterThan(0n);
});

test("without the middleware the same agent sends the same words, and no markers", async () => {
  const [plain, marked] = [play(), play()];
  await createAgent({ model: plain.model, tools, systemPrompt: manual }).invoke(asked);
  const strata = strataMiddleware({ vendor: "anthropic", waitMsMax: 30_000 });
  const agent = createAgent({
    model: marked.model,
    tools,
    systemPrompt: manual,
    middleware: [strata],
  });
  await agent.invoke(asked);
  await strata.close();
  expect(JSON.stringify(plain.bodies)).not.toContain("cache_control");
  expect(countDifferent(plain.bodies, marked.bodies)).toBe(0);
});

test("the model that was given stays as it is, and one of another kind is used as it is, and reported", async () => {
  const { model, bodies } = play();
  const problems: string[] = [];
  const strata = strataMiddleware({
    vendor: "anthropic",
    onProblem: (each) => problems.push(each),
  });
  onTestFinished(() => strata.close());
  await createAgent({ model, tools, systemPrompt: manual, middleware: [strata] }).invoke(asked);
  await model.invoke("hello");
  expect(JSON.stringify(bodies.at(-1))).not.toContain("cache_control");
  expect(problems).toEqual([]);
  const fake = new FakeListChatModel({ responses: ["fine", "fine"] });
  const agent = createAgent({ model: fake, tools: [], middleware: [strata] });
  await agent.invoke(asked);
  const { messages } = await agent.invoke(asked);
  expect(messages.at(-1)?.text).toBe("fine");
  expect(problems).toEqual([
    expect.stringContaining("strataMiddleware takes an instance of ChatAnthropic"),
  ]);
});

test("the example asks the simulator and says what was read", async () => {
  const { fetch, key } = connect("NO_SUCH_KEY");
  const model = new ChatAnthropic({
    model: "claude-sonnet-5-5",
    anthropicApiKey: key,
    clientOptions: { fetch },
  });
  const store = join(newFolder(), "ledger.db");
  expect(await askAgent(model, { store, question: "How is the weather in Paris?" })).toBe(
    "It is sunny in Paris.",
  );
});
