import { describe, expect, test } from "vitest";
import type { Recorded } from "../recording.ts";
import { createCodexReader } from "./read-codex.ts";
import { excerptsIn, promptsIn, recordingsOf, requestsIn } from "./test-kit.ts";

const at = (second: number): string => `2026-02-01T10:00:${String(second).padStart(2, "0")}.000Z`;
const line = (type: string, second: number, payload: object): object => ({
  timestamp: at(second),
  type,
  payload,
});
const item = (second: number, payload: object): object => line("response_item", second, payload);
const message = (second: number, role: string, text: string): object => {
  const type = role === "assistant" ? "output_text" : "input_text";
  return item(second, { type: "message", role, content: [{ type, text }] });
};
const count = (second: number, total: number, last: object | null): object =>
  line("event_msg", second, {
    type: "token_count",
    info:
      last === null ? null : { total_token_usage: { total_tokens: total }, last_token_usage: last },
  });
const call = (second: number, id: string): object =>
  item(second, { type: "function_call", name: "shell", arguments: `{"${id}":1}`, call_id: id });
const output = (second: number, id: string): object =>
  item(second, { type: "function_call_output", call_id: id, output: `of ${id}` });
const start = [
  line("session_meta", 0, { id: "r1", base_instructions: { text: "Rules." } }),
  line("turn_context", 0, { model: "gpt-5.5", effort: "high" }),
  message(1, "developer", "Permissions"),
  message(1, "user", "Fix it"),
];
const read = (lines: readonly object[]): Recorded[] => recordingsOf(createCodexReader, lines);

describe("a Codex rollout", () => {
  const usage = {
    input_tokens: 100,
    cached_input_tokens: 64,
    output_tokens: 30,
    reasoning_output_tokens: 20,
    total_tokens: 130,
  };
  const recorded = read([
    ...start,
    line("event_msg", 1, { type: "user_message", message: "Fix it" }),
    count(1, 0, null),
    item(3, { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "sealed" }),
    call(4, "c1"),
    call(5, "c2"),
    count(6, 130, usage),
    count(6, 130, usage),
    item(6, { type: "ghost_snapshot", ghost_commit: {} }),
    output(7, "c1"),
    output(8, "c2"),
    message(9, "assistant", "Done."),
    count(9, 300, { ...usage, input_tokens: 170 }),
  ]);

  test("has one request for each reply, with the items before it", () => {
    expect(recorded.map(({ type }) => type)).toEqual(["session", "request", "request"]);
    expect(recorded[0]).toMatchObject({
      session: { id: "r1", format: "codex", agent: "codex", wire: "openai-responses" },
    });
    expect(excerptsIn(recorded)[1]).toEqual([
      "tools: (not in the recording)",
      "system: Rules.",
      "system: Permissions",
      "user: Fix it",
      "assistant: (thinking)",
      'assistant: shell {"c1":1}',
      'assistant: shell {"c2":1}',
      "user: of c1",
      "user: of c2",
    ]);
    expect(requestsIn(recorded).map(({ keep, append }) => [keep, append.length])).toEqual([
      [0, 4],
      [4, 5],
    ]);
  });

  test("reads usage, times and settings", () => {
    expect(requestsIn(recorded)[0]).toMatchObject({
      startMs: Date.parse(at(1)),
      endMs: Date.parse(at(5)),
      model: "gpt-5.5",
      usage: {
        uncachedTokens: 36,
        cacheReadTokens: 64,
        cacheWriteTokens: {},
        outputTokens: 10,
        reasoningTokens: 20,
      },
      markers: null,
      settings: { effort: "high" },
    });
    expect(requestsIn(recorded)[1]?.startMs).toBe(Date.parse(at(8)));
  });

  test("sizes the tools by what the first bill has beyond the shown blocks, and reasoning by its tokens", () => {
    expect(promptsIn(recorded)[1]?.map(({ tier, kind, tokens }) => [tier, kind, tokens])).toEqual([
      ["T0", "tool definition", 77],
      ["T1", "system text", 6],
      ["T1", "system text", 11],
      ["T3", "text", 6],
      ["T3", "thinking", 20],
      ["T3", "tool_use", 21],
      ["T3", "tool_use", 21],
      ["T3", "tool_result", 16],
      ["T3", "tool_result", 16],
    ]);
  });
});

describe("replies without a count", () => {
  test("end where something else than the model speaks", () => {
    const recorded = read([
      ...start,
      call(2, "c1"),
      output(3, "c1"),
      call(4, "c2"),
      output(5, "c2"),
      message(6, "assistant", "Done."),
    ]);
    expect(
      requestsIn(recorded).map(({ keep, append, usage }) => [keep, append.length, usage]),
    ).toEqual([
      [0, 3, null],
      [3, 2, null],
      [5, 2, null],
    ]);
  });

  test("take a count that comes after the results", () => {
    const recorded = read([
      ...start,
      call(2, "c1"),
      output(3, "c1"),
      count(3, 50, { input_tokens: 40, cached_input_tokens: 0, output_tokens: 10 }),
      message(4, "assistant", "Done."),
    ]);
    expect(requestsIn(recorded).map(({ usage }) => usage?.uncachedTokens)).toEqual([40, undefined]);
    expect(requestsIn(recorded)).toHaveLength(2);
  });
});

describe("a compaction", () => {
  const before = [
    ...start,
    message(2, "assistant", "First."),
    count(2, 50, { input_tokens: 40, output_tokens: 10 }),
  ];
  const after = [message(4, "user", "More"), message(5, "assistant", "Second.")];

  test("puts its own items in place of the history, behind tools and instructions", () => {
    const replacement_history = [
      { type: "message", role: "user", content: "Fix it" },
      { type: "compaction", encrypted_content: "sealed" },
    ];
    const recorded = read([
      ...before,
      line("compacted", 3, { message: "", replacement_history }),
      ...after,
    ]);
    expect(excerptsIn(recorded)[1]).toEqual([
      "tools: (not in the recording)",
      "system: Rules.",
      "user: Fix it",
      "assistant: sealed",
      "user: More",
    ]);
    expect(requestsIn(recorded)[1]?.keep).toBe(2);
  });

  test("is its summary where it names no items", () => {
    const recorded = read([...before, line("compacted", 3, { message: "So far: 1" }), ...after]);
    expect(excerptsIn(recorded)[1]?.slice(2)).toEqual(["user: So far: 1", "user: More"]);
  });
});

test("instructions that are also sent as a message count once", () => {
  const recorded = read([
    line("session_meta", 0, { id: "r2", base_instructions: { text: "Rules." } }),
    line("turn_context", 0, { model: "gpt-6.1-sol" }),
    message(1, "developer", "Rules."),
    message(1, "user", "Fix it"),
    message(2, "assistant", "Done."),
  ]);
  expect(excerptsIn(recorded)[0]).toEqual(["system: Rules.", "user: Fix it"]);
});

test("what a rollout says was written is a write, not plain input", () => {
  const usage = {
    input_tokens: 100,
    cached_input_tokens: 20,
    cache_write_input_tokens: 70,
    output_tokens: 30,
    total_tokens: 130,
  };
  const lines = [...start.slice(2), message(3, "assistant", "Done."), count(4, 130, usage)];
  const model = line("turn_context", 0, { model: "gpt-5.6" });
  const [request] = requestsIn(read([model, ...lines]));
  expect(request?.usage).toMatchObject({
    uncachedTokens: 10,
    cacheReadTokens: 20,
    cacheWriteTokens: { "30m": 70 },
  });
});
