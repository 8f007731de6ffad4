import { describe, expect, test } from "vitest";
import type { Recorded } from "../recording.ts";
import { createPiReader } from "./read-pi.ts";
import { excerptsIn, promptsIn, recordingsOf, requestsIn, skippedIn } from "./test-kit.ts";

const at = (second: number): string => `2026-02-01T10:00:${String(second).padStart(2, "0")}.000Z`;
const header = { type: "session", version: 3, id: "p1", timestamp: at(0), cwd: "/project" };
const entry = (id: string, parentId: string | null, second: number, more: object): object => ({
  type: "message",
  id,
  parentId,
  timestamp: at(second),
  ...more,
});
const user = (id: string, parent: string | null, second: number, content: string): object =>
  entry(id, parent, second, { message: { role: "user", content } });
const usage = { input: 100, output: 9, cacheRead: 700, cacheWrite: 200 };
const reply = (
  id: string,
  parent: string,
  second: number,
  content: unknown,
  more: object = {},
): object =>
  entry(id, parent, second, {
    message: {
      role: "assistant",
      api: "anthropic-messages",
      provider: "anthropic",
      model: "claude-opus-4-6",
      content,
      usage,
      stopReason: "stop",
      ...more,
    },
  });
const text = (said: string): object[] => [{ type: "text", text: said }];
const read = (lines: readonly object[]): Recorded[] => recordingsOf(createPiReader, lines);
const hidden = "system: (not in the recording)";

describe("a pi session", () => {
  const recorded = read([
    header,
    { type: "thinking_level_change", id: "l1", parentId: null, thinkingLevel: "high" },
    user("u1", "l1", 1, "Fix it"),
    reply("a1", "u1", 3, [
      { type: "thinking", thinking: "hm", thinkingSignature: "sig" },
      { type: "toolCall", id: "c1", name: "read", arguments: { path: "a" } },
    ]),
    entry("r1", "a1", 4, {
      message: { role: "toolResult", toolCallId: "c1", content: text("of a"), isError: false },
    }),
    reply("a2", "r1", 6, text("Done.")),
  ]);

  test("has one request for each reply, with what its parents say", () => {
    expect(recorded[0]).toMatchObject({
      type: "session",
      session: { id: "p1", format: "pi", agent: "pi", wire: "anthropic-messages" },
    });
    expect(excerptsIn(recorded)).toEqual([
      [hidden, "user: Fix it"],
      [hidden, "user: Fix it", "assistant: hm", 'assistant: read {"path":"a"}', "user: of a"],
    ]);
    expect(promptsIn(recorded)[1]?.map(({ kind }) => kind)).toEqual([
      "system text",
      "text",
      "thinking",
      "tool_use",
      "tool_result",
    ]);
  });

  test("reads usage, times and settings", () => {
    expect(requestsIn(recorded)[1]).toMatchObject({
      thread: "",
      startMs: Date.parse(at(4)),
      endMs: Date.parse(at(6)),
      model: "claude-opus-4-6",
      keep: 2,
      usage: {
        uncachedTokens: 100,
        cacheReadTokens: 700,
        cacheWriteTokens: { "5m": 200 },
        outputTokens: 9,
        reasoningTokens: 0,
      },
      markers: null,
      settings: { thinking: "high" },
    });
  });
});

const old = (role: string, content: unknown): object => ({
  type: "message",
  timestamp: at(1),
  message: { role, content, usage, provider: "openai", model: "gpt-5.5" },
});

describe("the tree of a pi session", () => {
  const before = [
    header,
    user("u1", null, 1, "One"),
    reply("a1", "u1", 2, text("first")),
    user("u2", "a1", 3, "Two"),
    reply("a2", "u2", 4, text("second")),
  ];

  test("a branch keeps what came before it, and brings its summary", () => {
    const recorded = read([
      ...before,
      { type: "branch_summary", id: "b1", parentId: "a1", timestamp: at(5), summary: "Tried two" },
      user("u3", "b1", 6, "Three"),
      reply("a3", "u3", 7, text("third")),
    ]);
    expect(requestsIn(recorded).map(({ keep, append }) => [keep, append.length])).toEqual([
      [0, 2],
      [2, 2],
      [3, 2],
    ]);
    expect(excerptsIn(recorded)[2]?.slice(3)).toEqual(["user: Tried two", "user: Three"]);
  });

  test("a compaction is its summary and what it keeps, then what follows", () => {
    const recorded = read([
      ...before,
      {
        type: "compaction",
        id: "k1",
        parentId: "a2",
        timestamp: at(5),
        summary: "So far",
        firstKeptEntryId: "u2",
      },
      user("u3", "k1", 6, "Three"),
      reply("a3", "u3", 7, text("third")),
    ]);
    expect(excerptsIn(recorded)[2]).toEqual([
      hidden,
      "user: So far",
      "user: Two",
      "assistant: second",
      "user: Three",
    ]);
    expect(requestsIn(recorded)[2]?.keep).toBe(1);
  });

  test("a missing parent is reported once, and the previous entry replaces it", () => {
    const recorded = read([...before, user("u3", "gone", 6, "Three"), reply("a3", "u3", 7, [])]);
    expect(excerptsIn(recorded)[2]).toHaveLength(6);
    expect(skippedIn(recorded)).toEqual([
      "6: the entry it follows is missing; from here on such entries follow the one before",
    ]);
  });

  test("files without parents are read in their order", () => {
    const recorded = read([header, old("user", "One"), old("assistant", text("first"))]);
    expect(excerptsIn(recorded)).toEqual([[hidden, "user: One"]]);
    expect(recorded[0]).toMatchObject({ session: { wire: "openai-responses" } });
  });
});

describe("what pi does not send again", () => {
  test("failed replies, which count only where they were billed, and commands kept out", () => {
    const zero = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
    const bash = { role: "bashExecution", command: "ls", output: "a", excludeFromContext: true };
    const recorded = read([
      header,
      user("u1", null, 1, "One"),
      reply("e1", "u1", 2, [], { stopReason: "error", usage: zero }),
      reply("e2", "e1", 3, text("cut"), { stopReason: "aborted" }),
      entry("x1", "e2", 3, { message: bash }),
      entry("x2", "x1", 3, { type: "custom", data: {} }),
      entry("x3", "x2", 3, { type: "custom_message", content: "note" }),
      reply("a1", "x3", 4, text("first")),
    ]);
    expect(excerptsIn(recorded)).toEqual([
      [hidden, "user: One"],
      [hidden, "user: One", "user: note"],
    ]);
    expect(skippedIn(recorded)).toEqual(["3: the reply failed: error"]);
  });
});

describe("a session of OpenClaw", () => {
  test("is one of pi, in which notes of what was delivered are no replies", () => {
    const echo = { provider: "openclaw", model: "delivery-mirror", api: "openai-responses" };
    const recorded = read([
      header,
      { type: "model_change", id: "m1", parentId: null, provider: "anthropic", modelId: "x" },
      { type: "custom", customType: "model-snapshot", id: "m2", parentId: "m1", data: {} },
      user("u1", "m2", 1, "One"),
      reply("a1", "u1", 2, text("first")),
      reply("d1", "a1", 3, text("first"), echo),
      user("u2", "d1", 4, "Two"),
      reply("a2", "u2", 5, text("second")),
    ]);
    expect(excerptsIn(recorded)).toEqual([
      [hidden, "user: One"],
      [hidden, "user: One", "assistant: first", "user: Two"],
    ]);
    expect(skippedIn(recorded)).toEqual(["6: it repeats what was delivered, and no model made it"]);
  });
});
