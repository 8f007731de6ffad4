// Goal: OpenTelemetry's variables and strata.yaml say where spans go, and a collector that is wrong or away breaks nothing. Method: the
// configuration as programs read it, the official exporter, a receiver.
import { expect, onTestFinished, test } from "vitest";
import { readConfig } from "../../src/core/config/read-config.ts";
import type { StrataConfig } from "../../src/core/config/schema.ts";
import { secretsIn } from "../../src/core/config/secrets.ts";
import { openHostTelemetry, type HostTelemetry } from "../../src/host/parts/open-telemetry.ts";
import type { StrataEvent } from "../../src/index.ts";
import { plantedToken } from "../../harness/planted-key.ts";
import { openCollector } from "./receiver.ts";

function configOf(env: Readonly<Record<string, string>>): StrataConfig {
  const { config, problems } = readConfig({ files: [], env, options: [] });
  expect(problems).toEqual([]);
  if (config === null) throw new Error("no configuration");
  return config;
}

test("OpenTelemetry's own variables are settings, and what does not fit is left out", () => {
  const { telemetry } = configOf({
    OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4318/",
    OTEL_EXPORTER_OTLP_HEADERS: "x-tenant=a%20b, authorization=Bearer%20c,host=evil,bad name=1,=2",
    OTEL_SERVICE_NAME: "checkout",
    OTEL_RESOURCE_ATTRIBUTES: "team=payments,nonsense",
    OTEL_METRICS_EXPORTER: "none",
    OTEL_BSP_SCHEDULE_DELAY: "soon",
    OTEL_METRIC_EXPORT_INTERVAL: "1500",
  });
  expect(telemetry).toEqual({
    isEnabled: true,
    endpoint: "http://127.0.0.1:4318/",
    tracesEndpoint: null,
    metricsEndpoint: null,
    protocol: "http/protobuf",
    headers: new Map([
      ["x-tenant", "a b"],
      ["authorization", "Bearer c"],
    ]),
    serviceName: "checkout",
    resource: new Map([["team", "payments"]]),
    hasTraces: true,
    hasMetrics: false,
    compat: [],
    spanDelayMs: 5000,
    metricsEveryMs: 1500,
    queueMax: 10_000,
    isShared: true,
  });
});

test("a header for the collector is a secret that tools do not print", () => {
  const config = configOf({
    OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer ${plantedToken}`,
  });
  expect(secretsIn(config)).toContainEqual({
    name: "telemetry.headers.authorization",
    value: plantedToken,
  });
});

function open(env: Readonly<Record<string, string>>): Promise<HostTelemetry | null> {
  return openHostTelemetry({ config: configOf(env).telemetry, onNotice: () => {} });
}

test("without a collector nothing is sent, and OTEL_SDK_DISABLED switches it off", async () => {
  expect(await open({})).toBeNull();
  const named = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:1" };
  expect(await open({ ...named, OTEL_SDK_DISABLED: "true" })).toBeNull();
  expect(
    await open({ ...named, OTEL_TRACES_EXPORTER: "none", OTEL_METRICS_EXPORTER: "none" }),
  ).toBeNull();
});

test("a variable for other programs that Strata cannot follow is a notice, a setting of its own an error", async () => {
  const notices: string[] = [];
  const onNotice = (notice: string): void => void notices.push(notice);
  const grpc = {
    OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4317",
    OTEL_EXPORTER_OTLP_PROTOCOL: "grpc",
  };
  expect(await openHostTelemetry({ config: configOf(grpc).telemetry, onNotice })).toBeNull();
  expect(notices).toEqual([
    expect.stringContaining("spoken to by grpc, and Strata speaks http/protobuf"),
  ]);
  const bare = { OTEL_EXPORTER_OTLP_ENDPOINT: "collector:4317" };
  expect(await openHostTelemetry({ config: configOf(bare).telemetry, onNotice })).toBeNull();
  expect(notices[1]).toContain("is none of http or https");
  const asked = { config: configOf(grpc).telemetry, asked: true, onNotice };
  await expect(openHostTelemetry(asked)).rejects.toMatchObject({ code: "config-invalid" });
  const { problems } = readConfig({
    files: [],
    env: { STRATA_TELEMETRY__PROTOCOL: "grpc" },
    options: [],
  });
  expect(problems).toMatchObject([{ message: "telemetry.protocol must be http/protobuf" }]);
});

const usual = { OTEL_BSP_SCHEDULE_DELAY: "1" };

async function openTo(
  url: string,
  more: Readonly<Record<string, string>>,
): Promise<{
  readonly telemetry: HostTelemetry;
  readonly notices: readonly string[];
}> {
  const notices: string[] = [];
  const { telemetry: config } = configOf({ ...usual, OTEL_EXPORTER_OTLP_ENDPOINT: url, ...more });
  const onNotice = (notice: string): void => void notices.push(notice);
  const telemetry = await openHostTelemetry({ config, onNotice });
  if (telemetry === null) throw new Error("nothing is sent");
  onTestFinished(() => telemetry.close());
  return { telemetry, notices };
}

function failedCall(number: number): StrataEvent {
  return {
    id: `01K9ZZZZZZZZZZZZZZZZZZ${String(number).padStart(4, "0")}`,
    timestampUs: 1_795_000_000_000_000 + number,
    sessionId: "s",
    turnId: null,
    parentEventId: null,
    type: "llm.call_failed",
    actor: "agent",
    sensitivity: "pseudonymous",
    payload: {
      model: "claude-sonnet-5-5",
      provider: "anthropic",
      error_class: "network",
      error_message_redacted: "the wire is cut",
      retry_count: 0,
      latency_ms: 10,
    },
  };
}

test("a collector that refuses spans loses them: counted, said once, and what follows arrives", async () => {
  let status = 400;
  const collector = await openCollector({ status: () => status });
  const { telemetry, notices } = await openTo(collector.url, { OTEL_METRICS_EXPORTER: "none" });
  telemetry.observe(failedCall(1));
  await expect.poll(() => telemetry.state()?.spans?.failedCount).toBe(1);
  telemetry.observe(failedCall(2));
  await expect.poll(() => telemetry.state()?.spans?.failedCount).toBe(2);
  status = 200;
  telemetry.observe(failedCall(3));
  await expect.poll(() => telemetry.state()?.spans?.exportedCount).toBe(1);
  expect(notices).toEqual([expect.stringContaining("OpenTelemetry: spans were not taken")]);
  expect(collector.spans).toMatchObject([
    { name: "chat claude-sonnet-5-5", status: 2, attributes: { "error.type": "network" } },
  ]);
  expect(JSON.stringify(collector.spans)).not.toContain("the wire is cut");
});

test("what does not fit into the queue is dropped and counted, and nothing waits for it", async () => {
  const collector = await openCollector();
  const { telemetry } = await openTo(collector.url, {
    OTEL_METRICS_EXPORTER: "none",
    OTEL_BSP_MAX_QUEUE_SIZE: "100",
  });
  for (let number = 0; number < 1000; number += 1) telemetry.observe(failedCall(number));
  expect(telemetry.state()).toMatchObject({ waitingCount: 100, droppedCount: 900 });
  await telemetry.close();
  expect(collector.spans).toHaveLength(100);
});

test("an event that breaks the catalogue makes no span and is counted", async () => {
  const collector = await openCollector();
  const { telemetry } = await openTo(collector.url, { OTEL_METRICS_EXPORTER: "none" });
  const { payload: _, ...broken } = failedCall(1);
  telemetry.observe(broken as StrataEvent);
  telemetry.observe(failedCall(2));
  await expect.poll(() => collector.spans.length).toBe(1);
  expect(telemetry.state()).toMatchObject({ unreadCount: 1 });
});
