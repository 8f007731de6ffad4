// Goal: turns, calls, tool uses and compactions of our own sessions are spans below each other. Method: an engine on the simulator, the
// official exporter, a receiver that decodes by the published schema.
import { AsyncLocalStorage } from "node:async_hooks";
import {
  context,
  ROOT_CONTEXT,
  trace,
  type Context,
  type ContextManager,
} from "@opentelemetry/api";
import {
  InMemorySpanExporter,
  SimpleSpanProcessor,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import { expect, onTestFinished, test } from "vitest";
import { noUsage } from "../../src/core/message/usage.ts";
import { cheapCounter } from "../../src/core/tokens/cheap-counter.ts";
import { defineTool, openEngine } from "../../src/index.ts";
import { asksForSummary } from "../../src/simulator/behaviours/summariser.ts";
import { createAgent, createScripted } from "../../src/simulator/index.ts";
import { openCollector, type ReceivedSpan } from "./receiver.ts";

const look = defineTool({
  name: "look",
  description: "Looks at a file",
  input: { path: "string" },
  run: ({ path }) => {
    if (path === "gone") throw new Error("it is gone");
    return "It says: swordfish.";
  },
});

const usual = { model: "claude-sonnet-5-5", counter: cheapCounter, env: {} };

/** Long enough to be cached. */
const system = `You are careful. ${"Check every claim that you make. ".repeat(400)}`;

test("a turn is a span with its calls and tool uses below it, and a compaction one of its own", async () => {
  const collector = await openCollector();
  const summarise = createAgent();
  const say = createScripted([
    { text: "I look.", toolCalls: [{ name: "look", input: { path: "a" } }] },
    { text: "Again.", toolCalls: [{ name: "look", input: { path: "gone" } }] },
    { text: "Done.", times: "always" },
  ]);
  const model: typeof say = (prompt) => (asksForSummary(prompt) ? summarise : say)(prompt);
  const engine = await openEngine({
    ...usual,
    system,
    agent: "reviewer",
    tools: [look],
    simulate: { model },
    telemetry: { endpoint: collector.url, serviceName: "an agent" },
  });
  const session = await engine.session("review");
  const result = await session.run("What is in a?").result;
  for (let turn = 0; turn < 5; turn += 1) {
    await session.run(`And now? ${"More of it, and more. ".repeat(3000)}`).result;
  }
  const outcome = await session.compact();
  expect(outcome.kind === "unchanged" ? outcome.why : outcome.kind).toBe("compacted");
  await session.run("Go on.").result;
  await engine.close();

  const { spans } = collector;
  const turns = spans.filter(({ name }) => name === "invoke_agent reviewer");
  const [first] = turns.toSorted((one, other) => one.startMs - other.startMs);
  expect(turns).toHaveLength(7);
  expect(first).toMatchObject({
    kind: 1,
    parentSpanId: "",
    status: 0,
    attributes: {
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.agent.name": "reviewer",
      "gen_ai.conversation.id": "review",
      "gen_ai.provider.name": "anthropic",
      "gen_ai.request.model": "claude-sonnet-5-5",
      "strata.turn.id": result.turnId,
      "strata.turn.llm_calls": 3,
      "strata.turn.tool_calls": 2,
    },
  });
  // What sums calls up must not find the same tokens in their turn.
  expect(Object.keys(first?.attributes ?? {}).filter((name) => /usage/.test(name))).toEqual([]);
  const inside = below(spans, first);
  expect(inside.map(({ name }) => name).toSorted()).toEqual([
    "chat claude-sonnet-5-5",
    "chat claude-sonnet-5-5",
    "chat claude-sonnet-5-5",
    "execute_tool look",
    "execute_tool look",
  ]);
  for (const each of inside) {
    expect(each.traceId).toBe(first?.traceId);
    expect(each.startMs).toBeGreaterThanOrEqual(first?.startMs ?? Infinity);
    expect(each.endMs).toBeLessThanOrEqual(first?.endMs ?? 0);
  }
  const tools = inside.filter(({ name }) => name === "execute_tool look");
  expect(tools.map(({ status, attributes }) => [status, attributes["error.type"]])).toEqual([
    [0, undefined],
    [2, "execution_error"],
  ]);
  expect(tools[0]?.attributes).toMatchObject({
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": "look",
    "gen_ai.tool.type": "function",
  });

  const calls = inside.filter(({ name }) => name.startsWith("chat "));
  expect(calls.map(({ attributes }) => attributes)).toEqual(
    result.calls.map((call) => {
      const { usage, plan } = call;
      const { uncachedTokens, cacheReadTokens, cacheWriteTokens } = usage ?? noUsage;
      const written = Object.values(cacheWriteTokens).reduce((sum, tokens) => sum + tokens, 0);
      return {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "anthropic",
        "gen_ai.request.model": "claude-sonnet-5-5",
        "gen_ai.conversation.id": "review",
        "gen_ai.agent.name": "reviewer",
        "gen_ai.response.finish_reasons": [call.stopReason],
        "gen_ai.usage.input_tokens": uncachedTokens + cacheReadTokens + written,
        "gen_ai.usage.output_tokens": usage?.outputTokens,
        "gen_ai.usage.cache_read.input_tokens": cacheReadTokens,
        "gen_ai.usage.cache_write.input_tokens": written,
        "gen_ai.usage.cache_creation.input_tokens": written,
        "strata.mode": "engine",
        "strata.policy": call.policy,
        "strata.plan.markers": plan.markers.length,
        "strata.cache.expected_read_tokens": plan.expected.readTokens,
        "strata.call.id": `${result.turnId}/${call.number}`,
        "strata.turn.id": result.turnId,
        "strata.cost.total_usd": Number(call.costPicoUsd) / 1e12,
        "strata.cost.saved_usd": expect.any(Number) as number,
      };
    }),
  );
  const saved = calls.reduce(
    (sum, each) => sum + Number(each.attributes["strata.cost.saved_usd"]),
    0,
  );
  expect(saved).toBeCloseTo(Number(result.saved.picoUsd) / 1e12, 9);

  const compaction = spans.find(({ name }) => name === "compaction");
  expect(compaction).toMatchObject({
    parentSpanId: "",
    attributes: {
      "gen_ai.operation.name": "compaction",
      "gen_ai.conversation.id": "review",
      "strata.compaction.trigger": "manual",
      "strata.compaction.outcome": "ok",
    },
  });
  const [last] = turns.toSorted((one, other) => other.startMs - one.startMs);
  expect(below(spans, last)[0]?.attributes["gen_ai.conversation.compacted"]).toBe(true);
  expect(calls[0]?.attributes).not.toHaveProperty("gen_ai.conversation.compacted");
  expect(JSON.stringify(spans)).not.toMatch(/swordfish|What is in a|Check every claim|it is gone/);

  const metrics = new Map(collector.metrics().map((metric) => [metric.name, metric]));
  expect(metrics.get("gen_ai.invoke_agent.duration")?.points).toMatchObject([
    { count: 7, attributes: { "gen_ai.agent.name": "reviewer" } },
  ]);
  expect(metrics.get("gen_ai.invoke_agent.tool_calls")?.points[0]?.sum).toBe(2);
  expect(
    metrics.get("gen_ai.execute_tool.duration")?.points.map(({ attributes }) => attributes),
  ).toEqual([
    { "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "look" },
    {
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": "look",
      "error.type": "execution_error",
    },
  ]);
});

test("in a program with an SDK of its own, a turn belongs to the span that ran it", async () => {
  const exporter = new InMemorySpanExporter();
  const tracerProvider = new TracerProvider({
    spanProcessors: [new SimpleSpanProcessor({ exporter })],
  });
  context.setGlobalContextManager(createContexts());
  onTestFinished(() => context.disable());
  const engine = await openEngine({
    ...usual,
    simulate: { model: createScripted([{ text: "Hi.", times: "always" }]) },
    telemetry: { tracerProvider },
  });
  const session = await engine.session("one");
  const request = tracerProvider.getTracer("the program").startSpan("POST /ask");
  await context.with(trace.setSpan(ROOT_CONTEXT, request), () => session.run("Hello.").result);
  request.end();
  await engine.close();
  const [call, turn] = ["chat claude-sonnet-5-5", "invoke_agent agent"].map((name) =>
    exporter.getFinishedSpans().find((span) => span.name === name),
  );
  expect(turn?.parentSpanContext?.spanId).toBe(request.spanContext().spanId);
  expect(call?.parentSpanContext?.spanId).toBe(turn?.spanContext().spanId);
  expect(call?.spanContext().traceId).toBe(request.spanContext().traceId);
});

/** What the SDK of a Node program brings. */
function createContexts(): ContextManager {
  const storage = new AsyncLocalStorage<Context>();
  const manager: ContextManager = {
    active: () => storage.getStore() ?? ROOT_CONTEXT,
    with: (active, run, self, ...given) => storage.run(active, () => run.apply(self, given)),
    bind: (_context, target) => target,
    enable: () => manager,
    disable: () => manager,
  };
  return manager;
}

function below(spans: readonly ReceivedSpan[], parent: ReceivedSpan | undefined): ReceivedSpan[] {
  return spans
    .filter(({ parentSpanId }) => parentSpanId === parent?.spanId)
    .toSorted((one, other) => one.startMs - other.startMs);
}
