import { describe, expect, test } from "vitest";
import { deepFreeze } from "../../models/catalogue.ts";
import type { StreamPart } from "../reply.ts";
import { streamDecoder } from "./stream.ts";

const begun =
  '{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-sonnet-5-5","content":[],"stop_reason":null,"usage":{"input_tokens":3,"cache_read_input_tokens":100,"cache_creation_input_tokens":20,"cache_creation":{"ephemeral_5m_input_tokens":5,"ephemeral_1h_input_tokens":15},"output_tokens":1},"diagnostics":{"cache_miss_reason":{"type":"tools_changed"}},"input_transformations":[]}}';
const ended = [
  '{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"input_tokens":null,"cache_read_input_tokens":100,"output_tokens":40,"output_tokens_details":{"thinking_tokens":30}}}',
  '{"type":"message_stop"}',
];
const noon = [start(0, '{"type":"text","text":""}'), delta(0, "text_delta", { text: "Noon." })];
const overloaded = '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}';

function start(index: number, block: string): string {
  return `{"type":"content_block_start","index":${index},"content_block":${block}}`;
}

function delta(index: number, type: string, fields: Readonly<Record<string, unknown>>): string {
  return JSON.stringify({ type: "content_block_delta", index, delta: { type, ...fields } });
}

function stop(index: number): string {
  return `{"type":"content_block_stop","index":${index}}`;
}

function compaction(events: readonly string[]) {
  let state: unknown = deepFreeze(streamDecoder.start);
  const parts: StreamPart[] = [];
  for (const data of events) {
    const [next, more] = streamDecoder.step(state as typeof streamDecoder.start, {
      event: undefined,
      data,
    });
    state = deepFreeze(next);
    parts.push(...more);
  }
  return { reply: streamDecoder.finish(state as typeof streamDecoder.start), parts };
}

/** The blocks of a reply that came in these events. */
function contentOf(...events: readonly string[]) {
  const { reply } = compaction([begun, ...events, ...ended]);
  return reply.kind === "reply" ? reply.message.content : reply;
}

describe("a stream", () => {
  test("gives the same reply as an answer in one piece", () => {
    const { reply, parts } = compaction([
      begun,
      start(0, '{"type":"thinking","thinking":"","signature":""}'),
      '{"type":"ping"}',
      delta(0, "thinking_delta", { thinking: "Let me " }),
      delta(0, "thinking_delta", { thinking: "see." }),
      delta(0, "signature_delta", { signature: "sig" }),
      stop(0),
      start(1, '{"type":"text","text":""}'),
      delta(1, "text_delta", { text: "No" }),
      delta(1, "text_delta", { text: "on." }),
      stop(1),
      start(2, '{"type":"tool_use","id":"t","name":"Read","input":{}}'),
      delta(2, "input_json_delta", { partial_json: "" }),
      delta(2, "input_json_delta", { partial_json: '{"2":1.0,"1":123456' }),
      delta(2, "input_json_delta", { partial_json: "78901234567890}" }),
      stop(2),
      '{"type":"something_new","data":1}',
      ...ended,
    ]);
    expect(reply).toEqual({
      kind: "reply",
      id: "msg_1",
      model: "claude-sonnet-5-5",
      message: {
        role: "assistant",
        content: [
          { type: "thinking", text: "Let me see.", signature: "sig" },
          { type: "text", text: "Noon." },
          {
            type: "tool_use",
            id: "t",
            name: "Read",
            inputJson: '{"2":1.0,"1":12345678901234567890}',
          },
        ],
      },
      stopReason: "end_turn",
      usage: {
        usage: {
          uncachedTokens: 3,
          cacheReadTokens: 100,
          cacheWriteTokens: { "5m": 5, "1h": 15 },
          outputTokens: 10,
          reasoningTokens: 30,
        },
        isReported: true,
        reportsCache: true,
        warnings: [],
      },
      status: "complete",
      diagnosis: "tools_changed",
      transformations: [],
    });
    expect(parts).toEqual([
      { type: "thinking", text: "Let me " },
      { type: "thinking", text: "see." },
      { type: "text", text: "No" },
      { type: "text", text: "on." },
      { type: "tool", toolUseId: "t", name: "Read" },
      { type: "tool-input", toolUseId: "t", json: '{"2":1.0,"1":123456' },
      { type: "tool-input", toolUseId: "t", json: "78901234567890}" },
    ]);
  });

  test("without an input has an empty one", () => {
    const expected = [{ type: "tool_use", id: "t", name: "Now", inputJson: "{}" }];
    expect(contentOf(start(0, '{"type":"tool_use","id":"t","name":"Now","input":{}}'))).toEqual(
      expected,
    );
    expect(contentOf(start(0, '{"type":"tool_use","id":"t","name":"Now"}'))).toEqual(expected);
  });

  test("keeps an input that comes whole with its block", () => {
    const block = '{"type":"tool_use","id":"t","name":"Now","input":{"2":1.0,"1":1}}';
    expect(contentOf(start(0, block))).toMatchObject([{ inputJson: '{"2":1.0,"1":1}' }]);
  });

  test("keeps citations with their text, to the byte", () => {
    const cited = `{"type":"content_block_delta","index":0,"delta":{"type":"citations_delta","citation":{"type":"char_location","at":1.0}}}`;
    const content = contentOf(
      start(0, '{"type":"text","text":"","citations":[]}'),
      delta(0, "text_delta", { text: "So." }),
      cited,
      cited,
    );
    expect(content).toEqual([
      {
        type: "text",
        text: "So.",
        json: '{"type":"text","text":"So.","citations":[{"type":"char_location","at":1.0},{"type":"char_location","at":1.0}]}',
      },
    ]);
  });

  test("keeps a compaction, whole or in a delta", () => {
    const whole =
      '{"type":"compaction","content":"so far","encrypted_content":null,"signature":"s"}';
    expect(contentOf(start(0, whole))).toEqual([
      { type: "compaction", content: "so far", signature: "s", json: whole },
    ]);
    expect(
      contentOf(
        start(0, '{"type":"compaction","content":null}'),
        delta(0, "compaction_delta", { content: "so far", encrypted_content: "e" }),
      ),
    ).toMatchObject([
      {
        content: "so far",
        json: '{"type":"compaction","content":"so far","encrypted_content":"e"}',
      },
    ]);
    expect(
      contentOf(
        start(0, '{"type":"compaction","content":null}'),
        delta(0, "compaction_delta", { content: null, encrypted_content: null }),
      ),
    ).toEqual([{ type: "compaction", content: null }]);
  });

  test("keeps blocks it does not know to the byte, with the input that came after", () => {
    const hidden = '{"type":"redacted_thinking","data":"x"}';
    const result = '{"type":"web_search_tool_result", "tool_use_id":"s","content":[1.0]}';
    expect(
      contentOf(
        start(0, hidden),
        start(1, '{"type":"server_tool_use","id":"s","name":"web_search","input":{}}'),
        delta(1, "input_json_delta", { partial_json: '{"1":1.0}' }),
        start(2, result),
      ),
    ).toEqual([
      { type: "redacted_thinking", data: "x" },
      {
        type: "opaque",
        json: '{"type":"server_tool_use","id":"s","name":"web_search","input":{"1":1.0}}',
      },
      { type: "opaque", json: result },
    ]);
  });

  test("joins a character that was cut in two", () => {
    expect(
      contentOf(
        start(0, '{"type":"text","text":"a"}'),
        delta(0, "text_delta", { text: "\ud83d" }),
        delta(0, "text_delta", { text: "\ude00" }),
      ),
    ).toEqual([{ type: "text", text: "a😀" }]);
  });

  test("takes later counts over earlier ones, and says where the split does not follow", () => {
    const grown =
      '{"type":"message_delta","delta":{"stop_reason":"pause_turn"},"usage":{"cache_creation_input_tokens":50,"output_tokens":2}}';
    expect(compaction([begun, grown]).reply).toMatchObject({
      status: "complete",
      stopReason: "pause_turn",
      usage: {
        usage: { cacheWriteTokens: { "5m": 35, "1h": 15 }, outputTokens: 2 },
        warnings: ["cache_creation adds up to 20, cache_creation_input_tokens is 50"],
      },
    });
  });

  test("reads ten thousand deltas in the time of reading each once", () => {
    const deltas = Array.from({ length: 10_000 }, () => delta(0, "text_delta", { text: "ab" }));
    const content = contentOf(start(0, '{"type":"text","text":""}'), ...deltas);
    expect(content).toEqual([{ type: "text", text: "ab".repeat(10_000) }]);
  });
});

describe("a stream that does not end well", () => {
  test("and was cut gives what arrived, as partial", () => {
    expect(compaction([begun, ...noon]).reply).toMatchObject({
      status: "partial",
      stopReason: "unknown",
      message: { content: [{ type: "text", text: "Noon." }] },
      usage: { usage: { outputTokens: 1 } },
    });
  });

  test("and was cut in a tool's input keeps the piece, which is no JSON", () => {
    const tool = [
      start(0, '{"type":"tool_use","id":"t","name":"Read","input":{}}'),
      delta(0, "input_json_delta", { partial_json: '{"path":"/a' }),
    ];
    expect(compaction([begun, ...tool]).reply).toMatchObject({
      status: "partial",
      message: {
        content: [{ type: "tool_use", id: "t", name: "Read", inputJson: '{"path":"/a' }],
      },
    });
  });

  test("and was cut in a server tool's input says so", () => {
    const block = '{"type":"server_tool_use","id":"s","name":"web_search","input":{}}';
    const cut = delta(0, "input_json_delta", { partial_json: '{"query":"a' });
    expect(compaction([begun, start(0, block), cut]).reply).toMatchObject({
      message: { content: [{ type: "opaque", json: block }] },
      usage: { warnings: ["the input of a server tool was cut off and is left out"] },
    });
  });

  test("and fails in the middle gives what arrived, and why", () => {
    expect(compaction([begun, ...noon, overloaded]).reply).toMatchObject({
      kind: "reply",
      status: "partial",
      failure: { kind: "overloaded", detail: "Overloaded" },
      message: { content: [{ type: "text", text: "Noon." }] },
    });
  });

  test("and breaks right after it began keeps the usage it began with", () => {
    expect(
      compaction([begun, '{"type":"content_block_delta","index":0,"delta":{"type":']).reply,
    ).toMatchObject({
      kind: "reply",
      status: "partial",
      failure: { kind: "malformed" },
      message: { content: [] },
      usage: { isReported: true, usage: { outputTokens: 1 } },
    });
  });

  test("and fails before anything arrived is that failure", () => {
    expect(compaction(['{"type":"ping"}', overloaded]).reply).toEqual({
      kind: "overloaded",
      detail: "Overloaded",
      retryAfterMs: undefined,
    });
  });

  test("and brings nothing is malformed", () => {
    const nothing = { kind: "malformed", detail: "the stream ended before a reply began" };
    expect(compaction([]).reply).toEqual(nothing);
    expect(compaction(["", '{"type":"ping"}', "{}"]).reply).toEqual(nothing);
  });

  test.each([
    ["{oops", "an event is not JSON: {oops"],
    ["7", "an event is not JSON: 7"],
    [
      '{"type":"content_block_start","index":0}',
      'an event starts no block: {"type":"content_block_start","index":0}',
    ],
    ['{"type":"content_block_delta"}', 'an event names no block: {"type":"content_block_delta"}'],
  ])("and brings what is no event goes on, and is not complete: %s", (data, detail) => {
    expect(compaction([data]).reply).toEqual({ kind: "malformed", detail });
    expect(compaction([begun, data, ...noon, ...ended]).reply).toMatchObject({
      status: "partial",
      stopReason: "end_turn",
      failure: { kind: "malformed", detail },
      message: { content: [{ type: "text", text: "Noon." }] },
    });
  });

  test("counts deltas that it cannot place", () => {
    const strange = [
      delta(0, "new_delta", {}),
      delta(0, "new_delta", {}),
      delta(9, "text_delta", { text: "a" }),
    ];
    expect(compaction([begun, ...noon, ...strange, ...ended]).reply).toMatchObject({
      status: "complete",
      usage: {
        warnings: [
          'left out: 2 deltas of the unknown type "new_delta"',
          "left out: 1 deltas of a block that never began",
        ],
      },
    });
  });

  test("reads nothing behind its end", () => {
    expect(compaction([begun, ...noon, ...ended, "[DONE]", overloaded]).reply).toMatchObject({
      status: "complete",
      message: { content: [{ type: "text", text: "Noon." }] },
    });
  });

  test("can be gone on with from any earlier state", () => {
    const [first] = streamDecoder.step(streamDecoder.start, { event: undefined, data: begun });
    const branches = ["A", "B"].map((words) => {
      const data = start(0, `{"type":"text","text":"${words}"}`);
      return streamDecoder.finish(streamDecoder.step(first, { event: undefined, data })[0]);
    });
    expect(branches).toMatchObject([
      { message: { content: [{ text: "A" }] } },
      { message: { content: [{ text: "B" }] } },
    ]);
  });
});
