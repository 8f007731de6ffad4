// Goal: a collector gets what the ledger has of each call, under OpenTelemetry's names. Method: `strata serve` in a process of its own,
// the official exporter, a receiver that decodes by the published schema.
import { expect, test } from "vitest";
import { plantedKey, plantedToken } from "../../harness/planted-key.ts";
import { startServe } from "../gateway/start-serve.ts";
import { openCollector, type ReceivedSpan } from "./receiver.ts";

const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
const system = "You answer briefly. ".repeat(900);
const secretWord = "zanzibar";

function ask(
  url: string,
  text: string,
  headers: Readonly<Record<string, string>> = {},
  more: object = {},
): Promise<Response> {
  return fetch(`${url}/v1/messages`, {
    method: "POST",
    headers: {
      "x-api-key": plantedKey,
      "anthropic-version": "2023-06-01",
      "content-type": "application/json",
      "user-agent": "claude-cli/2.1.325",
      ...headers,
    },
    body: JSON.stringify({
      model: "claude-sonnet-5-5",
      max_tokens: 20,
      ...more,
      stream: true,
      system: [{ type: "text", text: system, cache_control: { type: "ephemeral", ttl: "1h" } }],
      messages: [{ role: "user", content: text }],
    }),
  });
}

test("each call through the gateway is a span and metrics, attribute by attribute as in the ledger", async () => {
  const collector = await openCollector();
  const serve = await startServe(["--sim"], {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer%20${plantedToken}`,
    OTEL_SERVICE_NAME: "my gateway",
    OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=test",
    OTEL_BSP_SCHEDULE_DELAY: "50",
    STRATA_TELEMETRY__COMPAT: "openinference",
  });
  const first = await ask(serve.url, `Say ${secretWord}.`, {
    traceparent: `00-${traceId}-00f067aa0ba902b7-01`,
    tracestate: "vendor=abc",
  });
  expect(await first.text()).toContain("message_stop");
  const second = await ask(serve.url, "Say it again.");
  expect(await second.text()).toContain("message_stop");
  // The model takes none.
  const refused = await ask(serve.url, "Hi.", {}, { temperature: 0.5 });
  await refused.text();
  await expect.poll(() => serve.lines().length).toBe(3);
  await expect.poll(() => collector.spans.length).toBe(3);
  await expect
    .poll(async () => await (await fetch(`${serve.url}/strata/health`)).json())
    .toMatchObject({
      telemetry: {
        waitingCount: 0,
        droppedCount: 0,
        unreadCount: 0,
        spans: { waitingCount: 0, exportedCount: 3, failedCount: 0, droppedCount: 0 },
      },
    });
  const scraped = await (await fetch(`${serve.url}/metrics`)).text();
  expect(scraped).toContain('strata_telemetry_spans_total{outcome="exported"} 3');
  expect(scraped).toContain('strata_telemetry_dropped_total{cause="queue_full"} 0');

  const calls = serve.lines() as readonly CallLine[];
  for (const call of calls) {
    const span = collector.spans.find(({ attributes }) => attributes["strata.call.id"] === call.id);
    expect(span?.attributes).toEqual(toExpected(call));
    expect({ startMs: span?.startMs, endMs: span?.endMs }).toEqual({
      startMs: call.startMs,
      endMs: call.endMs,
    });
  }
  const [one, two] = calls.map((call) => spanOf(collector.spans, call));
  expect(one).toMatchObject({
    name: "chat claude-sonnet-5-5",
    kind: 3,
    traceId,
    parentSpanId: "00f067aa0ba902b7",
    traceState: "vendor=abc",
    status: 0,
  });
  expect(two?.traceId).not.toBe(traceId);
  expect(two?.parentSpanId).toBe("");
  // The first call writes what the second one reads, and the whole prompt is in both.
  expect(one?.attributes).toMatchObject({ "gen_ai.usage.cache_read.input_tokens": 0 });
  expect(two?.attributes["gen_ai.usage.cache_read.input_tokens"]).toBe(
    one?.attributes["gen_ai.usage.cache_write.input_tokens"],
  );

  const told = JSON.stringify([collector.spans, collector.metrics()]);
  expect(told).not.toContain(secretWord);
  expect(told).not.toContain("You answer briefly");
  expect(
    collector.headers.every(({ authorization }) => authorization === `Bearer ${plantedToken}`),
  ).toBe(true);
  expect(collector.resources[0]).toMatchObject({
    "service.name": "my gateway",
    "deployment.environment.name": "test",
    "telemetry.sdk.language": "nodejs",
  });

  expect(await serve.stop("SIGTERM")).toBe(0);
  // The end of the program sends what was counted, before the first minute is over.
  expect(collector.paths).toContain("/v1/metrics");
  const byName = new Map(collector.metrics().map((metric) => [metric.name, metric]));
  const totalOf = (name: string): number =>
    byName.get(name)?.points.reduce((sum, { value }) => sum + value, 0) ?? Number.NaN;
  const sumOf = (key: keyof NonNullable<CallLine["usage"]>): number =>
    calls.reduce((sum, { usage }) => sum + ((usage?.[key] as number | undefined) ?? 0), 0);
  const written = calls.reduce((sum, { usage }) => sum + (usage?.cacheWriteTokens["1h"] ?? 0), 0);
  const usage = "gen_ai.client.inference.usage";
  expect(totalOf(`${usage}.cache_read.input_tokens`)).toBe(sumOf("cacheReadTokens"));
  expect(totalOf(`${usage}.cache_write.input_tokens`)).toBe(written);
  expect(totalOf(`${usage}.input_tokens`)).toBe(
    sumOf("uncachedTokens") + sumOf("cacheReadTokens") + written,
  );
  expect(totalOf(`${usage}.output_tokens`)).toBe(sumOf("outputTokens") + sumOf("reasoningTokens"));
  expect(byName.get(`${usage}.input_tokens`)).toMatchObject({
    kind: "sum",
    unit: "{token}",
    isMonotonic: true,
    temporality: 2,
  });
  const duration = byName.get("gen_ai.client.inference.duration");
  expect(duration).toMatchObject({ kind: "histogram", unit: "s", temporality: 2 });
  expect(duration?.points.reduce((sum, { count }) => sum + count, 0)).toBe(3);
  expect(duration?.points[0]?.bounds).toEqual([
    0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92,
  ]);
  expect(byName.get("gen_ai.client.inference.time_to_first_chunk")?.points.length).toBeGreaterThan(
    0,
  );
});

interface CallLine extends Readonly<Record<string, unknown>> {
  readonly id: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly usage: {
    readonly uncachedTokens: number;
    readonly cacheReadTokens: number;
    readonly cacheWriteTokens: Readonly<Record<string, number>>;
    readonly outputTokens: number;
    readonly reasoningTokens: number;
  } | null;
}

function spanOf(spans: readonly ReceivedSpan[], { id }: CallLine): ReceivedSpan | undefined {
  return spans.find(({ attributes }) => attributes["strata.call.id"] === id);
}

/** Every attribute, from what the program prints of the call. */
function toExpected(call: CallLine): Readonly<Record<string, unknown>> {
  const { usage, conversation, wire, explanation } = call as CallLine & {
    readonly conversation: { readonly id: string; readonly kind: string };
    readonly wire: { readonly origin: string };
    readonly explanation: { readonly expectedReadTokens: number } | null;
  };
  const common = {
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "anthropic",
    "gen_ai.request.model": "claude-sonnet-5-5",
    "gen_ai.conversation.id": conversation.id,
    "gen_ai.agent.name": "claude-code",
    "gen_ai.request.stream": true,
    "gen_ai.request.max_tokens": 20,
    "gen_ai.response.time_to_first_chunk": (Number(call["firstByteMs"]) - call.startMs) / 1000,
    "server.address": "127.0.0.1",
    "server.port": Number(new URL(wire.origin).port),
    "strata.mode": "observe",
    "strata.policy": "client",
    "strata.plan.markers": 1,
    "strata.call.id": call.id,
    "strata.client": "claude-code",
    "strata.conversation.kind": conversation.kind,
    "strata.upstream": "anthropic",
    "openinference.span.kind": "LLM",
    "llm.model_name": "claude-sonnet-5-5",
  };
  if (usage === null)
    return { ...common, "error.type": "invalid-request", "gen_ai.request.temperature": 0.5 };
  const written = usage.cacheWriteTokens["1h"] ?? 0;
  const prompt = usage.uncachedTokens + usage.cacheReadTokens + written;
  const generated = usage.outputTokens + usage.reasoningTokens;
  const cost = Number(call["costPicoUsd"]) / 1e12;
  return {
    ...common,
    "gen_ai.response.id": call["replyId"],
    "gen_ai.response.finish_reasons": [call["stopReason"]],
    "gen_ai.usage.input_tokens": prompt,
    "gen_ai.usage.output_tokens": generated,
    "gen_ai.usage.cache_read.input_tokens": usage.cacheReadTokens,
    "gen_ai.usage.cache_write.input_tokens": written,
    "gen_ai.usage.cache_creation.input_tokens": written,
    "gen_ai.usage.reasoning.output_tokens": usage.reasoningTokens,
    ...("5m" in usage.cacheWriteTokens
      ? { "anthropic.usage.cache_creation.ephemeral_5m_input_tokens": usage.cacheWriteTokens["5m"] }
      : {}),
    ...("1h" in usage.cacheWriteTokens
      ? { "anthropic.usage.cache_creation.ephemeral_1h_input_tokens": written }
      : {}),
    "llm.token_count.prompt": prompt,
    "llm.token_count.completion": generated,
    "llm.token_count.prompt_details.cache_read": usage.cacheReadTokens,
    "llm.token_count.prompt_details.cache_write": written,
    "strata.cost.total_usd": cost,
    "strata.cost.saved_usd":
      Number(BigInt(String(call["plainCostPicoUsd"])) - BigInt(String(call["costPicoUsd"]))) / 1e12,
    ...(explanation === null
      ? {}
      : { "strata.cache.expected_read_tokens": explanation.expectedReadTokens }),
  };
}
