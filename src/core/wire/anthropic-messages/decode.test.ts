import { describe, expect, test } from "vitest";
import { nothingWritten } from "../../assembly/spelling.ts";
import { decodeReply } from "./decode.ts";
import { toSpelling } from "./spelling.ts";
import { sonnet } from "./test-kit.ts";

function body(content: string, rest = ""): string {
  return `{"id":"msg_1","type":"message","role":"assistant","model":"claude-sonnet-5-5","content":${content},"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":3,"output_tokens":2,"cache_read_input_tokens":0,"cache_creation_input_tokens":0}${rest}}`;
}

/** The content of a reply, or why there is none. */
function contentOf(text: string) {
  const reply = decodeReply(text);
  return reply.kind === "reply" ? reply.message.content : reply;
}

describe("a whole reply", () => {
  test("is read into our form", () => {
    expect(decodeReply(body('[{"type":"text","text":"Hi."}]'))).toEqual({
      kind: "reply",
      id: "msg_1",
      model: "claude-sonnet-5-5",
      message: { role: "assistant", content: [{ type: "text", text: "Hi." }] },
      stopReason: "end_turn",
      usage: {
        usage: {
          uncachedTokens: 3,
          cacheReadTokens: 0,
          cacheWriteTokens: {},
          outputTokens: 2,
          reasoningTokens: 0,
        },
        isReported: true,
        reportsCache: true,
        warnings: [],
      },
      status: "complete",
      transformations: [],
    });
  });

  test("keeps a tool's input to the byte: integer-like keys, 1.0, long integers, escapes", () => {
    const input = '{"2":1.0,"1":12345678901234567890,"a":"caf\\u00e9","b":[1e3, -0]}';
    const block = `{"type":"tool_use","id":"t","name":"Read","input":${input}}`;
    expect(contentOf(body(`[${block}]`))).toEqual([
      { type: "tool_use", id: "t", name: "Read", inputJson: input },
    ]);
  });

  test("is sent back with the bytes it came with, known blocks and unknown ones", () => {
    const blocks = [
      '{"signature":"s","type":"thinking","thinking":"hm"}',
      '{"type":"redacted_thinking","data":"x"}',
      '{"type":"text","text":"See.","citations":[{"type":"char_location","start_char_index":1.0}]}',
      '{"type":"server_tool_use","id":"srv","name":"web_search","input":{"2":1,"1":1.0}}',
      '{"type":"web_search_tool_result", "tool_use_id":"srv","content":[]}',
      '{"type":"compaction","content":"so far","signature":null}',
      '{"caller":{"type":"direct"},"type":"tool_use","id":"t","name":"Read","input":{"1":1}}',
    ];
    const reply = decodeReply(body(`[ ${blocks.join(" , ")} ]`));
    const message = reply.kind === "reply" ? reply.message : null;
    const spelled = toSpelling(sonnet).message(
      message ?? { role: "assistant", content: [] },
      nothingWritten,
    );
    expect(spelled.blocks.map(({ json }) => json)).toEqual([
      `{"role":"assistant","content":[${blocks[0]}`,
      ...blocks.slice(1).map((block) => `,${block}`),
    ]);
    expect(spelled.leftOut).toEqual([]);
  });

  test.each([
    ["end_turn", "end_turn"],
    ["tool_use", "tool_use"],
    ["max_tokens", "max_tokens"],
    ["stop_sequence", "stop_sequence"],
    ["refusal", "refusal"],
    ["pause_turn", "pause_turn"],
    ["compaction", "compaction"],
    ["model_context_window_exceeded", "context_window"],
    ["something_new", "unknown"],
    [null, "unknown"],
  ])("stopped by %s says %s", (stop_reason, stopReason) => {
    const text = JSON.stringify({ type: "message", content: [], stop_reason });
    expect(decodeReply(text)).toMatchObject({ stopReason });
  });

  test("has what the provider reports about its cache and its changes to the request", () => {
    const rest =
      ',"diagnostics":{"cache_miss_reason":{"type":"messages_changed","cache_missed_input_tokens":12}}' +
      ',"input_transformations":[{"type":"thinking_dropped","path":"messages.1.content.0","reason":"prefix_binding_mismatch"}]' +
      ',"context_management":{"applied_edits":[{"type":"clear_tool_uses_20250919","cleared_tool_uses":3,"cleared_input_tokens":900}]}';
    expect(decodeReply(body("[]", rest))).toMatchObject({
      diagnosis: "messages_changed",
      transformations: [
        "thinking_dropped messages.1.content.0: prefix_binding_mismatch",
        "clear_tool_uses_20250919: 900 input tokens cleared",
      ],
    });
  });

  test.each([
    '{"type":"message","content":null}',
    '{"content":[],"id":7,"model":null,"usage":"many","stop_reason":{},"diagnostics":[],"input_transformations":{},"context_management":{"applied_edits":null}}',
    '{"content":[],"diagnostics":{"cache_miss_reason":null}}',
  ])("with strange fields is read all the same: %s", (text) => {
    expect(decodeReply(text)).toMatchObject({
      kind: "reply",
      id: "",
      model: "",
      message: { content: [] },
      usage: { isReported: false, reportsCache: false, warnings: ["the reply has no usage"] },
      transformations: [],
    });
  });

  test("carries text no bytes can carry as an escape", () => {
    expect(contentOf(body('[{"type":"x","half":"\ud800"}]'))).toEqual([
      { type: "opaque", json: '{"type":"x","half":"\\ud800"}' },
    ]);
  });
});

describe("what is no reply", () => {
  test.each([
    ["<html>", "the reply is not a JSON object: <html>"],
    ["[]", "the reply is not a JSON object: []"],
    ['{"ok":true}', `the reply's content is not a list of blocks: {"ok":true}`],
    ['{"content":"Hi."}', `the reply's content is not a list of blocks: {"content":"Hi."}`],
    ['{"content":[7]}', `the reply's content is not a list of blocks: {"content":[7]}`],
  ])("is a failure and never thrown: %s", (text, detail) => {
    expect(decodeReply(text)).toEqual({ kind: "malformed", detail });
  });

  test("but an error is that error", () => {
    const text = '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}';
    expect(decodeReply(text)).toEqual({
      kind: "overloaded",
      detail: "Overloaded",
      retryAfterMs: undefined,
    });
  });
});
