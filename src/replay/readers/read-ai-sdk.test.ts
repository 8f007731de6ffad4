import { describe, expect, test } from "vitest";
import { findPolicy } from "../../core/cache/policies.ts";
import type { Recorded } from "../recording.ts";
import { replay } from "../replay.ts";
import { createAiSdkReader } from "./read-ai-sdk.ts";
import { readRecordings } from "./read-recordings.ts";
import {
  charactersCounter,
  collect,
  excerptsIn,
  recordingsOf,
  requestsIn,
  skippedIn,
} from "./test-kit.ts";

const fixture = new URL("../../../fixtures/recordings/ai-sdk.json", import.meta.url).pathname;
const readFixture = (): AsyncGenerator<Recorded> =>
  readRecordings([fixture], { counter: charactersCounter, excerpts: true });

describe("a record of the AI SDK's devtools", () => {
  test("has a session for each run and a request for each step", async () => {
    const recorded = await collect(readFixture());
    expect(recorded.find(({ type }) => type === "session")).toMatchObject({
      session: { id: "run1", format: "ai-sdk", wire: "anthropic-messages", blocks: "as sent" },
    });
    expect(excerptsIn(recorded)[1]).toEqual([
      'tools: {"input_schema":{},"name":"read"}',
      "system: Be brief.",
      "user: What does a.txt say?",
      'assistant: read {"path":"a.txt"}',
      "user: hello",
    ]);
    expect(requestsIn(recorded)[1]).toMatchObject({
      startMs: Date.parse("2026-02-01T10:00:03.000Z"),
      endMs: Date.parse("2026-02-01T10:00:04.000Z"),
      keep: 3,
      usage: {
        uncachedTokens: 10,
        cacheReadTokens: 1990,
        cacheWriteTokens: { "5m": 60 },
        outputTokens: 5,
        reasoningTokens: 4,
      },
    });
    expect(skippedIn(recorded)).toEqual(["1: the call failed"]);
  });

  test("is priced under the policies", async () => {
    const policies = [findPolicy("none")];
    const report = await replay(readFixture(), { policies, model: null, groupBy: "none" });
    expect(report).toMatchObject({ sessions: 1, requests: 2 });
    // 2,050 written at $3.75, 1,990 read at $0.30 and 20 at $3 a million.
    expect(report.recorded).toMatchObject({ inputTokens: 4060, costPicoUsd: "8344500000" });
  });

  test("of an older version has totals; unusable members do no harm", () => {
    const usage = JSON.stringify({ inputTokens: 100, cachedInputTokens: 40, outputTokens: 5 });
    const step = { id: "s1", run_id: "r1", model_id: "gpt-5.5", usage, input: "{", odd: [] };
    const recorded = recordingsOf(createAiSdkReader, [
      { runs: [], steps: [step, null, { id: "s2", usage: "[]" }] },
      { odd: 1 },
    ]);
    expect(requestsIn(recorded)[0]?.usage).toMatchObject({
      uncachedTokens: 60,
      cacheReadTokens: 40,
    });
    expect(recorded.find(({ type }) => type === "session")).toMatchObject({
      session: { blocks: "from bills" },
    });
    expect(skippedIn(recorded)).toEqual([
      "1: the call has no usage",
      "1: the call has no usage",
      "2: it holds no steps",
    ]);
  });
});
