import { describe, expect, test } from "vitest";
import { createCtxTraceReader } from "./read-ctx-trace.ts";
import { excerptsIn, promptsIn, recordingsOf, requestsIn, skippedIn } from "../test-kit.ts";

const header = (more: object): object => ({
  kind: "session",
  format: "ctx-trace/1",
  id: "s1",
  agent: "claude-code",
  wire: "anthropic-messages",
  prefix_known: true,
  tools_known: true,
  ...more,
});
const request = (keep: number, append: readonly unknown[], more: object = {}): object => ({
  kind: "request",
  t: "2026-01-28T04:35:03.932Z",
  t_end: "2026-01-28T04:35:11.443Z",
  model: "claude-opus-4-6",
  keep,
  append,
  usage: null,
  ...more,
});
const says = (role: string, ...texts: string[]): object => ({
  role,
  content: texts.map((text) => ({ type: "text", text })),
});
const tools = [{ name: "Read", description: "Reads a file.", input_schema: { type: "object" } }];
const read = (...lines: object[]): ReturnType<typeof recordingsOf> =>
  recordingsOf(createCtxTraceReader, lines);

describe("a ctx-trace session", () => {
  test("gives tools, system and messages as blocks of their tiers, each request as what changed", () => {
    const recorded = read(
      header({}),
      request(0, [says("user", "one", "two")], {
        tools,
        system: [{ type: "text", text: "Rules." }],
      }),
      request(1, [says("assistant", "three"), says("user", "four")]),
      request(1, [says("assistant", "other")]),
    );
    expect(recorded[0]).toEqual({
      type: "session",
      session: {
        id: "s1",
        file: "a.jsonl",
        format: "ctx-trace/1",
        agent: "claude-code",
        wire: "anthropic-messages",
        blocks: "as sent",
        isWhole: false,
        workspace: "a.jsonl",
      },
    });
    expect(
      promptsIn(recorded)[1]?.map(({ tier, kind, role, endsMessage }) => [
        tier,
        kind,
        role,
        endsMessage,
      ]),
    ).toEqual([
      ["T0", "tool definition", "tools", false],
      ["T1", "system text", "system", true],
      ["T3", "text", "user", false],
      ["T3", "text", "user", true],
      ["T3", "text", "assistant", true],
      ["T3", "text", "user", true],
    ]);
    expect(requestsIn(recorded).map(({ keep, append }) => [keep, append.length])).toEqual([
      [0, 4],
      [4, 2],
      [4, 1],
    ]);
    expect(requestsIn(recorded)[0]).toMatchObject({
      thread: "",
      startMs: 1769574903932,
      endMs: 1769574911443,
      model: "claude-opus-4-6",
      remainderTokens: 0,
      usage: null,
      markers: null,
      settings: {},
    });
  });

  test("a new system text keeps the tools and brings every message again", () => {
    const recorded = read(
      header({}),
      request(0, [says("user", "one")], { tools, system: "Rules." }),
      request(1, [says("assistant", "two")], { system: "Other rules." }),
      request(2, [says("user", "three")]),
    );
    expect(requestsIn(recorded).map(({ keep, append }) => [keep, append.length])).toEqual([
      [0, 3],
      [1, 3],
      [4, 1],
    ]);
    expect(excerptsIn(recorded)[2]).toEqual([
      'tools: {"description":"Reads a file.","input_schema":{"type":"object"},"name":"Read"}',
      "system: Other rules.",
      "user: one",
      "assistant: two",
      "user: three",
    ]);
  });

  test("a message that comes back with the same beginning keeps its first blocks", () => {
    const recorded = read(
      header({}),
      request(0, [says("user", "one", "two", "three")]),
      request(0, [says("user", "one", "two", "changed")]),
    );
    expect(requestsIn(recorded).map(({ keep, append }) => [keep, append.length])).toEqual([
      [0, 3],
      [2, 1],
    ]);
  });

  test("an unknown prefix is one block of the size that was billed for it", () => {
    const qa = { hidden_prefix_tokens: 33_580 };
    const recorded = read(
      header({ prefix_known: false, tools_known: false, qa }),
      request(0, [says("user", "one")]),
    );
    expect(promptsIn(recorded)[0]?.[0]).toMatchObject({
      tokens: 33_580,
      tier: "T1",
      kind: "system text",
      role: "system",
      mayCarryMarker: true,
    });
    expect(requestsIn(recorded)[0]?.append).toHaveLength(2);
  });

  test("tools that are not shown get what the first bill has beyond the shown blocks", () => {
    const recorded = read(
      header({ wire: "openai-responses", tools_known: false }),
      request(0, [says("user", "four")], {
        model: "gpt-5.5",
        system: "Rules.",
        usage: { input_tokens: 100, cache_read_input_tokens: 20, output_tokens: 9 },
      }),
    );
    expect(promptsIn(recorded)[0]?.map(({ tier, tokens }) => [tier, tokens])).toEqual([
      ["T0", 110],
      ["T1", 6],
      ["T3", 4],
    ]);
  });

  test("usage comes in disjoint buckets, and is absent where the prompt was not counted", () => {
    const recorded = read(
      header({}),
      request(0, [], {
        usage: {
          input_tokens: 10,
          cache_creation_input_tokens: 18_725,
          cache_read_input_tokens: 23_545,
          output_tokens: 30,
          reasoning_output_tokens: 20,
          cache_creation: { ephemeral_5m_input_tokens: 725, ephemeral_1h_input_tokens: 18_000 },
        },
      }),
      request(0, [], { usage: { output_tokens: 3 } }),
    );
    expect(requestsIn(recorded).map(({ usage }) => usage)).toEqual([
      {
        uncachedTokens: 10,
        cacheReadTokens: 23_545,
        cacheWriteTokens: { "5m": 725, "1h": 18_000 },
        outputTokens: 10,
        reasoningTokens: 20,
      },
      null,
    ]);
  });

  test("markers of a raw log are found by block, and settings by our names", () => {
    const cache_control = [
      { at: "tools.0", type: "ephemeral", ttl: "1h" },
      { at: "system.1", type: "ephemeral", ttl: "1h" },
      { at: "messages.1.content.0", type: "ephemeral" },
      { at: "messages.7.content.0", type: "ephemeral" },
    ];
    const params = {
      max_tokens: 32_000,
      tool_choice: { type: "tool", name: "Read", disable_parallel_tool_use: true },
      thinking: { type: "enabled", budget_tokens: 1024 },
      output_config: { effort: "low" },
    };
    const recorded = read(
      header({ raw_api_log: true }),
      request(0, [says("user", "one", "two"), says("assistant", "three")], {
        tools,
        system: [
          { type: "text", text: "A" },
          { type: "text", text: "B" },
        ],
        cache_control,
        params,
      }),
      request(2, [says("user", "four")], { params: { tool_choice: { type: "auto" } } }),
    );
    expect(requestsIn(recorded).map(({ markers }) => markers)).toEqual([
      [
        { block: 0, lifetime: "1h" },
        { block: 2, lifetime: "1h" },
        { block: 5, lifetime: "5m" },
      ],
      [],
    ]);
    expect(requestsIn(recorded).map(({ settings }) => settings)).toEqual([
      {
        "tool choice": "tool Read",
        "parallel tool use": "off",
        thinking: "1024 tokens",
        effort: "low",
      },
      {},
    ]);
  });

  test("stubs are counted by their recorded sizes", () => {
    const content = [
      { type: "thinking", thinking: "", sig_chars: 1000 },
      { type: "image", stub: true, w: 1000, h: 750 },
      { type: "document", stub: true },
    ];
    const recorded = read(header({}), request(0, [{ role: "user", content }]));
    expect(
      promptsIn(recorded)[0]?.map(({ kind, tokens, mayCarryMarker }) => [
        kind,
        tokens,
        mayCarryMarker,
      ]),
    ).toEqual([
      ["thinking", 157, false],
      ["image", 1000, true],
      ["document", 4000, true],
    ]);
    expect(requestsIn(recorded)[0]?.settings).toEqual({ "images appear or vanish": "images" });
  });

  test("sealed reasoning counts its reasoning tokens", () => {
    const usage = { input_tokens: 9, output_tokens: 90, reasoning_output_tokens: 64 };
    const reply = {
      role: "assistant",
      content: [{ type: "thinking", thinking: "", sig_chars: 900 }],
    };
    const recorded = read(
      header({ wire: "openai-responses" }),
      request(0, [says("user", "hi")], { model: "gpt-5.5", usage }),
      request(1, [reply], { model: "gpt-5.5" }),
    );
    expect(requestsIn(recorded)[1]?.append.map(({ tokens }) => tokens)).toEqual([64]);
  });

  test("lines that fit nowhere are skipped and named", () => {
    const recorded = read(request(0, []), header({}), { kind: "note" }, request(3, []));
    expect(skippedIn(recorded)).toEqual([
      "1: it stands before the header",
      "3: its kind is not known",
      "4: it keeps too many messages",
    ]);
  });
});
