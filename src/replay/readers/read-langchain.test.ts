import { describe, expect, test } from "vitest";
import { findPolicy } from "../../core/cache/policies.ts";
import type { Recorded } from "../recording.ts";
import { replay } from "../replay.ts";
import { createLangChainReader } from "./read-langchain.ts";
import { readRecordings } from "./read-recordings.ts";
import {
  charactersCounter,
  collect,
  excerptsIn,
  recordingsOf,
  requestsIn,
  skippedIn,
} from "./test-kit.ts";

const fixture = new URL("../../../fixtures/recordings/langchain.jsonl", import.meta.url).pathname;
const readFixture = (): AsyncGenerator<Recorded> =>
  readRecordings([fixture], { counter: charactersCounter, excerpts: true });

const run = (id: string, more: object = {}): object => ({
  id,
  run_type: "llm",
  inputs: {},
  start_time: "2026-02-01T10:00:00.000000",
  outputs: { usage_metadata: { input_tokens: 10, output_tokens: 1 } },
  ...more,
});
const read = (...lines: readonly unknown[]): Recorded[] =>
  recordingsOf(createLangChainReader, lines);

describe("runs of LangChain", () => {
  test("are requests where they are calls of a model, wherever they stand in a tree", async () => {
    const recorded = await collect(readFixture());
    expect(recorded[0]).toMatchObject({
      session: {
        id: "thread1",
        format: "langchain",
        wire: "anthropic-messages",
        blocks: "as sent",
      },
    });
    expect(excerptsIn(recorded)).toEqual([
      ['tools: {"input_schema":{},"name":"read"}', "system: Be brief.", "user: One"],
      [
        'tools: {"input_schema":{},"name":"read"}',
        "system: Be brief.",
        "user: One",
        'assistant: read {"path":"a"}',
        "user: of a",
      ],
    ]);
    expect(requestsIn(recorded)[1]).toMatchObject({
      startMs: Date.parse("2026-02-01T10:00:03.000Z"),
      endMs: Date.parse("2026-02-01T10:00:04.500Z"),
      model: "claude-sonnet-4-6",
      keep: 3,
      usage: {
        uncachedTokens: 10,
        cacheReadTokens: 1990,
        cacheWriteTokens: { "5m": 40, "1h": 20 },
        outputTokens: 9,
        reasoningTokens: 0,
      },
    });
  });

  test("are priced under the policies", async () => {
    const policies = [findPolicy("none")];
    const report = await replay(readFixture(), { policies, model: null, groupBy: "none" });
    expect(report).toMatchObject({ sessions: 1, requests: 2, skipped: [] });
    // 2,030 written at $3.75, 20 at $6, 1,990 read at $0.30 and 20 at $3 a million.
    expect(report.recorded).toMatchObject({ inputTokens: 4060, costPicoUsd: "8389500000" });
  });

  test("without messages are bills; the same run is counted once", () => {
    const recorded = read(run("a"), {
      ...run("root", { run_type: "chain" }),
      child_runs: [run("a"), null],
    });
    expect(recorded.find(({ type }) => type === "session")).toMatchObject({
      session: { id: "a", blocks: "from bills" },
    });
    expect(requestsIn(recorded)).toHaveLength(1);
    expect(skippedIn(recorded)).toEqual(["2: another record holds the same call"]);
  });

  test("that cannot be used are named", () => {
    const recorded = read(
      run("a", { outputs: null, error: "overloaded" }),
      run("b", { outputs: { generations: [[{ text: "x" }]] }, extra: "none" }),
      { odd: 1 },
      run("c", { run_type: "tool" }),
    );
    expect(skippedIn(recorded)).toEqual([
      "1: the call failed",
      "2: the call has no usage",
      "3: it is not a run",
    ]);
    expect(requestsIn(recorded)).toEqual([]);
  });
});
