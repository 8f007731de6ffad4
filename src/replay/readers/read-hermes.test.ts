import { describe, expect, test } from "vitest";
import { findPolicy } from "../../core/cache/policies.ts";
import type { Recorded } from "../recording.ts";
import { replay } from "../replay.ts";
import { createHermesReader } from "./read-hermes.ts";
import { readRecordings } from "./read-recordings.ts";
import {
  charactersCounter,
  collect,
  excerptsIn,
  recordingsOf,
  requestsIn,
  skippedIn,
} from "./test-kit.ts";

const fixture = new URL("../../../fixtures/recordings/hermes.jsonl", import.meta.url).pathname;
const readFixture = (): AsyncGenerator<Recorded> =>
  readRecordings([fixture], { counter: charactersCounter, excerpts: true });

const says = (role: string, content: unknown, more: object = {}): object => ({
  role,
  content,
  ...more,
});

describe("an exported session of hermes", () => {
  test("has a request for each reply, with everything before it", async () => {
    const recorded = await collect(readFixture());
    expect(recorded[0]).toMatchObject({
      session: { id: "20260201_100000_ab", format: "hermes", wire: "anthropic-messages" },
    });
    expect(excerptsIn(recorded)).toEqual([
      ["system: Be brief.", "user: What does a.txt say?"],
      [
        "system: Be brief.",
        "user: What does a.txt say?",
        'assistant: read {"path":"a.txt"}',
        "user: hello",
      ],
    ]);
    expect(requestsIn(recorded)[1]).toMatchObject({
      startMs: 1_770_000_004_000,
      endMs: 1_770_000_006_000,
      model: "anthropic/claude-sonnet-4-6",
      keep: 2,
      usage: null,
    });
  });

  test("is priced under the policies; its bill is a sum, and is named as such", async () => {
    const policies = [findPolicy("none")];
    const report = await replay(readFixture(), { policies, model: null, groupBy: "none" });
    expect(report).toMatchObject({ sessions: 1, requests: 2, standIns: [] });
    expect(report.recorded).toBeUndefined();
    expect(report.skipped).toEqual([
      { reason: "its usage is a sum over the session, not of calls", count: 1 },
    ]);
  });
});

describe("other files of hermes", () => {
  test("a session file has its tools too", () => {
    const recorded = recordingsOf(createHermesReader, [
      {
        session_id: "s1",
        session_start: "2026-02-01T10:00:00.000Z",
        model: "gpt-5.5",
        system_prompt: "Be brief.",
        tools: [{ type: "function", function: { name: "read", parameters: {} } }],
        messages: [says("user", "One"), says("assistant", "first")],
      },
    ]);
    expect(excerptsIn(recorded)).toEqual([
      ['tools: {"input_schema":{},"name":"read"}', "system: Be brief.", "user: One"],
    ]);
    expect(requestsIn(recorded)[0]?.startMs).toBe(Date.parse("2026-02-01T10:00:00.000Z"));
  });

  test("a transcript has a line for each message; notes and what was taken back are not sent", () => {
    const recorded = recordingsOf(createHermesReader, [
      says("user", "early"),
      { role: "session_meta", model: "gpt-5.5", tools: [], platform: "telegram" },
      says("user", "One", { timestamp: "2026-02-01T10:00:01.000Z", odd: {} }),
      says("assistant", "first", { timestamp: "2026-02-01T10:00:02.000Z" }),
      says("assistant", "elsewhere", { mirror: true }),
      says("user", "gone", { active: 0 }),
      says("user", [{ type: "text", text: "Two" }]),
      says("assistant", null),
    ]);
    expect(excerptsIn(recorded)).toEqual([
      ["user: One"],
      ["user: One", "assistant: first", "assistant: elsewhere", "user: Two"],
    ]);
    expect(skippedIn(recorded)).toEqual(["1: it stands before the session's first line"]);
  });
});
