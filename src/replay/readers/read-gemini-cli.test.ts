import { describe, expect, test } from "vitest";
import { findPolicy } from "../../core/cache/policies.ts";
import type { Recorded } from "../recording.ts";
import { replay } from "../replay.ts";
import { createGeminiCliReader } from "./read-gemini-cli.ts";
import { readRecordings } from "./read-recordings.ts";
import { createRun } from "./run.ts";
import {
  charactersCounter,
  collect,
  excerptsIn,
  recordingsOf,
  requestsIn,
  skippedIn,
} from "./test-kit.ts";

const fixture = new URL("../../../fixtures/recordings/gemini-cli.json", import.meta.url).pathname;
const readFixture = (): AsyncGenerator<Recorded> =>
  readRecordings([fixture], { counter: charactersCounter, excerpts: true });

const at = (second: number): string => `2026-02-01T10:00:${String(second).padStart(2, "0")}.000Z`;
const header = { sessionId: "g1", projectHash: "0a", startTime: at(0), kind: "main" };
const tokens = { input: 500, output: 9, cached: 100, thoughts: 4, tool: 20, total: 533 };
const user = (id: string, second: number, text: string): object => ({
  id,
  timestamp: at(second),
  type: "user",
  content: [{ text }],
});
const reply = (id: string, second: number, more: object = {}): object => ({
  id,
  timestamp: at(second),
  type: "gemini",
  content: `reply ${id}`,
  model: "gemini-2.5-pro",
  tokens,
  ...more,
});
const read = (...lines: readonly object[]): Recorded[] =>
  recordingsOf(createGeminiCliReader, [header, ...lines]);
const hidden = "system: (not in the recording)";

describe("a session of gemini-cli as one JSON value", () => {
  test("has a request for each reply, with the results of its tools in the next one", async () => {
    const recorded = await collect(readFixture());
    expect(recorded[0]).toMatchObject({
      session: {
        id: "5e55a0de-0000-4000-8000-00000000000a",
        format: "gemini-cli",
        agent: "gemini-cli",
        blocks: "as sent",
      },
    });
    expect(excerptsIn(recorded)).toEqual([
      [hidden, "user: What does a.txt say?"],
      [
        hidden,
        "user: What does a.txt say?",
        'assistant: read_file {"path":"a.txt"}',
        'user: {"output":"hello"}',
      ],
    ]);
    expect(requestsIn(recorded)[1]).toMatchObject({
      startMs: Date.parse(at(5)),
      endMs: Date.parse(at(8)),
      model: "gemini-2.5-pro",
      keep: 2,
    });
  });

  test("is priced with the provider's own caching, apart from the policies", async () => {
    const policies = [findPolicy("tail-5m")];
    const report = await replay(readFixture(), { policies, model: null, groupBy: "none" });
    expect(report.automaticOnly).toMatchObject({ sessions: 1, requests: 2 });
    expect(report.automaticOnly?.recorded).toMatchObject({
      requests: 2,
      inputTokens: 18_100,
      readTokens: 8192,
      uncachedTokens: 9908,
    });
    expect(report.skipped).toEqual([]);
  });
});

describe("a session of gemini-cli in lines", () => {
  test("counts a reply once, as it is when the next message comes", () => {
    const recorded = read(
      user("u1", 1, "One"),
      reply("a1", 2, { tokens: null }),
      reply("a1", 2),
      { $set: { lastUpdated: at(2) } },
      user("u2", 3, "Two"),
      reply("a2", 4),
    );
    expect(excerptsIn(recorded)).toEqual([
      [hidden, "user: One"],
      [hidden, "user: One", "assistant: reply a1", "user: Two"],
    ]);
    expect(skippedIn(recorded)).toEqual([]);
  });

  test("has usage whose input includes the cached part, and input of the provider's own tools", () => {
    expect(requestsIn(read(user("u1", 1, "One"), reply("a1", 2)))[0]).toMatchObject({
      remainderTokens: 20,
      usage: {
        uncachedTokens: 420,
        cacheReadTokens: 100,
        cacheWriteTokens: {},
        outputTokens: 9,
        reasoningTokens: 4,
      },
    });
  });

  test("goes on from the message before the one it rewinds to", () => {
    const recorded = read(
      user("u1", 1, "One"),
      reply("a1", 2),
      user("u2", 3, "Two"),
      reply("a2", 4),
      { $rewindTo: "u2" },
      user("u3", 5, "Three"),
      reply("a3", 6),
    );
    expect(excerptsIn(recorded)[2]).toEqual([
      hidden,
      "user: One",
      "assistant: reply a1",
      "user: Three",
    ]);
    expect(requestsIn(recorded)).toHaveLength(3);
  });

  test("goes on from a history that was set anew, and counts no reply in it again", () => {
    const summary = user("sum", 5, "So far");
    const recorded = read(
      user("u1", 1, "One"),
      reply("a1", 2),
      { $set: { messages: [summary, reply("a1", 2)] } },
      user("u2", 6, "Two"),
      reply("a2", 7),
    );
    expect(excerptsIn(recorded)).toEqual([
      [hidden, "user: One"],
      [hidden, "user: So far", "assistant: reply a1", "user: Two"],
    ]);
  });

  test("takes results once, whether or not they are also a message", () => {
    const part = { functionResponse: { id: "c1", response: { output: "of a" } } };
    const call = { id: "c1", name: "read", args: {}, result: [part], timestamp: at(3) };
    const recorded = read(
      user("u1", 1, "One"),
      reply("a1", 2, {
        content: [{ functionCall: { id: "c1", name: "read" } }],
        toolCalls: [call],
      }),
      { id: "r1", timestamp: at(3), type: "user", content: [part] },
      reply("a2", 4),
    );
    expect(excerptsIn(recorded)[1]?.slice(2)).toEqual([
      "assistant: read {}",
      'user: {"output":"of a"}',
    ]);
  });

  test("that was copied from another file is not counted twice", () => {
    const run = createRun();
    const lines = [header, user("u1", 1, "One"), reply("a1", 2)];
    expect(requestsIn(recordingsOf(createGeminiCliReader, lines, { run }))).toHaveLength(1);
    expect(skippedIn(recordingsOf(createGeminiCliReader, lines, { run }))).toEqual([
      "3: the reply was read from another file",
    ]);
  });

  test("names what it cannot use, and minds no unknown members", () => {
    const recorded = read(
      { odd: 1 },
      { id: "n1", type: "user", content: { odd: [1] }, more: {} },
      reply("a1", 2, { tokens: { input: -1 }, toolCalls: "none" }),
    );
    expect(skippedIn(recorded)).toEqual(["2: its kind is not known"]);
    expect(requestsIn(recorded)[0]).toMatchObject({ usage: null });
    expect(recordingsOf(createGeminiCliReader, [{ ...header, messages: [null, 3] }])).toEqual([
      { type: "skipped", file: "a.jsonl", line: 1, reason: "the message has no id" },
      { type: "skipped", file: "a.jsonl", line: 1, reason: "the message has no id" },
    ]);
  });
});
