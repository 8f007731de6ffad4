import { describe, expect, test } from "vitest";
import { findPolicy } from "../../../core/cache/policies.ts";
import { explainRecordings } from "../../explain/explain-recording.ts";
import type { Recorded } from "../../recording.ts";
import { replay } from "../../replay.ts";
import { createOtelReader } from "./read-otel.ts";
import { readRecordings } from "../read-recordings.ts";
import {
  charactersCounter,
  collect,
  excerptsIn,
  recordingsOf,
  requestsIn,
  skippedIn,
} from "../test-kit.ts";

const fixture = new URL("../../../../fixtures/recordings/otel.json", import.meta.url).pathname;
const readFixture = (): AsyncGenerator<Recorded> =>
  readRecordings([fixture], { counter: charactersCounter });

type Attributes = Readonly<Record<string, string | number | readonly object[]>>;

const call: Attributes = {
  "gen_ai.operation.name": "chat",
  "gen_ai.provider.name": "anthropic",
  "gen_ai.request.model": "claude-sonnet-4-6",
};

function span(second: number, attributes: Attributes, more: object = {}): object {
  return {
    traceId: "t1",
    spanId: `s${second}`,
    startTimeUnixNano: `${1_770_000_000 + second}000000000`,
    endTimeUnixNano: `${1_770_000_001 + second}000000000`,
    attributes: Object.entries(attributes).map(([key, value]) => ({
      key,
      value:
        typeof value === "number"
          ? { intValue: String(value) }
          : { stringValue: typeof value === "string" ? value : JSON.stringify(value) },
    })),
    ...more,
  };
}

const batch = (...spans: readonly object[]): object => ({
  resourceSpans: [{ resource: {}, scopeSpans: [{ spans }] }],
});
const read = (...spans: readonly object[]): Recorded[] =>
  recordingsOf(createOtelReader, [batch(...spans)]);
const usages = (attributes: Attributes): unknown =>
  requestsIn(read(span(1, { ...call, ...attributes })))[0]?.usage;

const billed = (tokens: number): Attributes => ({ ...call, "gen_ai.usage.input_tokens": tokens });
const bill = (uncached: number, fromCache: number, written: object): object => ({
  uncachedTokens: uncached,
  cacheReadTokens: fromCache,
  cacheWriteTokens: written,
  outputTokens: 0,
  reasoningTokens: 0,
});
const said = (role: string, ...parts: readonly object[]): object => ({ role, parts });
const text = (content: string): object => ({ type: "text", content });

describe("an OpenTelemetry export without prompts", () => {
  test("is billed as recorded, apart from the policies", async () => {
    const policies = [findPolicy("tail-5m")];
    const report = await replay(readFixture(), { policies, model: null, groupBy: "day" });
    expect(report.requests).toBe(0);
    expect(report.billedOnly).toEqual({
      sessions: 1,
      requests: 3,
      inputTokens: 33_000,
      readTokens: 10_000,
      writeTokens: { "5m": 22_900, "30m": 0, "1h": 0 },
      uncachedTokens: 100,
      // 22,900 at $3.75, 10,000 at $0.30 and 100 at $3 a million.
      costUsd: 0.089_175,
      costPicoUsd: "89175000000",
      relativeCost: 0.089_175 / 0.099,
      hitRate: 10_000 / 33_000,
      coverage: 1 - 100 / 33_000,
      warmStartTokens: 0,
      groups: [expect.objectContaining({ name: "2026-02-02", requests: 3, costUsd: 0.089_175 })],
    });
    expect(report.skipped).toEqual([{ reason: "its usage is the sum of other spans", count: 1 }]);
  });

  test("has its misses explained from the bills, and marked as inferred", async () => {
    const calls = await collect(explainRecordings(readFixture()));
    expect(calls.map(({ explanation, evidence }) => [explanation.cause, evidence])).toEqual([
      ["first call", "inferred"],
      ["no miss", "inferred"],
      ["lifetime expired", "inferred"],
    ]);
  });

  test("has a session for each conversation, in order of time, with a thread for each agent", () => {
    const usage = { "gen_ai.usage.input_tokens": 100 };
    const recorded = read(
      span(9, { ...call, ...usage, "gen_ai.conversation.id": "b" }),
      span(5, { ...call, ...usage, "gen_ai.conversation.id": "a", "gen_ai.agent.name": "helper" }),
      span(3, { ...call, ...usage, "gen_ai.conversation.id": "a" }),
    );
    const shown = recorded.map((each) => {
      if (each.type === "session") return `${each.session.id} ${each.session.blocks}`;
      return each.type === "request" ? `${each.sessionId} ${each.request.thread}` : each.reason;
    });
    expect(shown).toEqual(["a from bills", "a ", "a helper", "b from bills", "b "]);
    expect(recorded[0]).toMatchObject({
      session: { format: "otel", wire: "anthropic-messages", isWhole: false },
    });
    expect(requestsIn(recorded)[0]).toMatchObject({
      startMs: 1_770_000_003_000,
      endMs: 1_770_000_004_000,
      model: "claude-sonnet-4-6",
    });
  });

  test("takes a shorter prompt for a new one", () => {
    const recorded = read(span(1, billed(100)), span(2, billed(150)), span(3, billed(60)));
    expect(
      requestsIn(recorded).map(({ keep, append }) => [keep, append.map(({ tokens }) => tokens)]),
    ).toEqual([
      [0, [100]],
      [1, [50]],
      [0, [60]],
    ]);
  });
});

describe("the usage of a span", () => {
  test("is read under new and old names, and the total includes what was cached", () => {
    expect(
      usages({
        "gen_ai.usage.input_tokens": 1000,
        "gen_ai.usage.output_tokens": 50,
        "gen_ai.usage.cache_read.input_tokens": 600,
        "gen_ai.usage.cache_write.input_tokens": 300,
        "gen_ai.usage.cache_creation.input_tokens": 300,
        "gen_ai.usage.reasoning.output_tokens": 20,
      }),
    ).toEqual({
      ...bill(100, 600, { "5m": 300 }),
      outputTokens: 30,
      reasoningTokens: 20,
    });
    expect(
      usages({
        "gen_ai.usage.prompt_tokens": 1000,
        "gen_ai.usage.cache_read_input_tokens": 600,
        "gen_ai.usage.cache_creation_input_tokens": 300,
      }),
    ).toEqual(bill(100, 600, { "5m": 300 }));
    expect(
      usages({ "llm.token_count.prompt": 10, "llm.token_count.prompt_details.cache_read": 4 }),
    ).toEqual(bill(6, 4, {}));
  });

  test("is split by lifetime where Claude's SDK says it", () => {
    expect(
      usages({
        "gen_ai.usage.input_tokens": 1000,
        "gen_ai.usage.cache_write.input_tokens": 300,
        "anthropic.usage.cache_creation.ephemeral_5m_input_tokens": 100,
        "anthropic.usage.cache_creation.ephemeral_1h_input_tokens": 200,
      }),
    ).toEqual(bill(700, 0, { "5m": 100, "1h": 200 }));
  });

  test("with less input than was cached comes from an instrumentation that left the rest out", () => {
    expect(
      usages({ "gen_ai.usage.input_tokens": 10, "gen_ai.usage.cache_read.input_tokens": 600 }),
    ).toEqual(bill(10, 600, {}));
  });
});

describe("spans that are not counted", () => {
  test("are named with their reason", () => {
    const usage = { "gen_ai.usage.input_tokens": 100 };
    const inner = { parentSpanId: "s1", spanId: "inner" };
    const recorded = recordingsOf(createOtelReader, [
      batch(
        span(1, { ...call, ...usage, "gen_ai.response.id": "m1" }),
        span(1, { ...call, ...usage, "gen_ai.response.id": "m2" }, inner),
        span(2, { ...call, ...usage, "gen_ai.response.id": "m1" }),
        span(3, { ...call, "error.type": "rate_limit_error" }),
        span(4, call),
        span(5, { ...call, "gen_ai.operation.name": "embeddings", ...usage }),
        span(6, { ...call, "gen_ai.operation.name": "invoke_agent", ...usage }),
        span(7, { "http.method": "GET" }),
        span(8, { ...call, ...usage, "anthropic.usage.compaction.input_tokens": 7 }),
      ),
      { resourceLogs: [] },
      { resourceMetrics: [] },
    ]);
    expect(requestsIn(recorded)).toHaveLength(2);
    expect(skippedIn(recorded)).toEqual([
      "1: the call failed: rate_limit_error",
      "1: the span has no usage",
      "1: it makes embeddings, which no cache serves",
      "1: its usage is the sum of other spans",
      "1: the tokens of a summary inside the call are not counted",
      "3: it holds metrics, which are sums over calls",
      "1: another record holds the same call",
      "1: another record holds the same call",
    ]);
  });

  test("unusable and unknown members do no harm", () => {
    const odd = {
      attributes: [null, { key: 1 }, { key: "x", value: { bytesValue: "AA==" } }],
      odd: 1,
    };
    expect(read(span(1, {}, odd), span(2, {}, { attributes: "none" }))).toEqual([]);
    expect(recordingsOf(createOtelReader, [{ resourceSpans: [null, 3, {}] }])).toEqual([]);
  });
});

describe("a span with content", () => {
  const usage = { "gen_ai.usage.input_tokens": 100 };
  const question = said("user", text("Fix it"));
  const prompt = {
    "gen_ai.system_instructions": [text("Be brief.")],
    "gen_ai.tool.definitions": [{ type: "function", name: "read", parameters: {} }],
  };
  const first = { ...call, ...usage, ...prompt, "gen_ai.input.messages": [question] };
  const second = {
    ...first,
    "gen_ai.input.messages": [
      question,
      said("assistant", { type: "tool_call", id: "c1", name: "read", arguments: { path: "a" } }),
      said("tool", { type: "tool_call_response", id: "c1", response: "of a" }),
    ],
  };

  test("is a whole prompt, on which policies can be tried", () => {
    const recorded = read(span(1, first), span(2, second));
    expect(recorded[0]).toMatchObject({ session: { blocks: "as sent" } });
    expect(excerptsIn(recorded)[1]).toEqual([
      'tools: {"input_schema":{},"name":"read"}',
      "system: Be brief.",
      "user: Fix it",
      'assistant: read {"path":"a"}',
      "user: of a",
    ]);
    expect(requestsIn(recorded)[1]?.keep).toBe(3);
  });

  test("is used only if every call of the conversation has it", () => {
    const recorded = read(span(1, first), span(2, { ...call, ...usage }));
    expect(recorded[0]).toMatchObject({ session: { blocks: "from bills" } });
    expect(skippedIn(recorded)).toEqual([
      "1: its prompt is not used, because other calls of the conversation lack theirs",
    ]);
  });

  test("may be the AI SDK's own", () => {
    const recorded = read(
      span(1, {
        ...call,
        ...usage,
        "ai.prompt.messages": [
          { role: "system", content: "Be brief." },
          { role: "user", content: [{ type: "text", text: "Fix it" }] },
          {
            role: "assistant",
            content: [
              { type: "tool-call", toolCallId: "c1", toolName: "read", input: { path: "a" } },
            ],
          },
          {
            role: "tool",
            content: [
              { type: "tool-result", toolCallId: "c1", output: { type: "text", value: "of a" } },
            ],
          },
        ],
      }),
    );
    expect(excerptsIn(recorded)[0]?.slice(1)).toEqual([
      "system: Be brief.",
      "user: Fix it",
      'assistant: read {"path":"a"}',
      "user: of a",
    ]);
  });
});

const logged = (
  second: number,
  attributes: Readonly<Record<string, string | number>>,
  body = "event",
): object => ({
  timeUnixNano: `${1_770_000_000 + second}000000000`,
  body: { stringValue: body },
  attributes: Object.entries(attributes).map(([key, value]) => ({
    key,
    value: { stringValue: String(value) },
  })),
});

const logs = (...logRecords: readonly object[]): object => ({
  resourceLogs: [{ resource: {}, scopeLogs: [{ logRecords }] }],
});

describe("events of clients in the logs of an export", () => {
  test("are calls of Claude Code and gemini-cli, with counts in their own names", () => {
    const claude = {
      "event.name": "api_request",
      "session.id": "c1",
      model: "claude-sonnet-4-6",
      input_tokens: 10,
      output_tokens: 5,
      cache_read_tokens: 900,
      cache_creation_tokens: 90,
      duration_ms: 2000,
    };
    const gemini = {
      "session.id": "g1",
      model: "gemini-2.5-pro",
      input_token_count: 1000,
      cached_content_token_count: 600,
      output_token_count: 7,
      thoughts_token_count: 3,
      tool_token_count: 20,
    };
    const recorded = recordingsOf(createOtelReader, [
      logs(
        logged(9, claude),
        logged(10, { ...gemini, "event.name": "gemini_cli.api_response" }),
        logged(11, { "event.name": "tool_result" }),
        logged(12, {}, "claude_code.api_request"),
      ),
    ]);
    const sessions = recorded.flatMap((each) => (each.type === "session" ? [each.session] : []));
    expect(sessions.map(({ id, agent, blocks }) => [id, agent, blocks])).toEqual([
      ["c1", "claude-code", "from bills"],
      ["g1", "gemini-cli", "from bills"],
    ]);
    expect(requestsIn(recorded)).toMatchObject([
      {
        startMs: 1_770_000_007_000,
        endMs: 1_770_000_009_000,
        usage: { uncachedTokens: 10, cacheReadTokens: 900, cacheWriteTokens: { "5m": 90 } },
      },
      { usage: { uncachedTokens: 420, cacheReadTokens: 600, outputTokens: 7, reasoningTokens: 3 } },
    ]);
    expect(skippedIn(recorded)).toEqual(["1: the event has no usage"]);
  });
});
