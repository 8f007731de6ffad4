import { describe, expect, test } from "vitest";
import { asReply, readStream } from "../test-kit.ts";
import { validateMessage } from "../../../message/validate-message.ts";
import { openaiResponses } from "./index.ts";

const usage =
  '{"input_tokens":100,"input_tokens_details":{"cached_tokens":60,"cache_write_tokens":30,"cache_write_tokens_details":{"ttl_30m_tokens":10,"ttl_12h_tokens":20}},"output_tokens":30,"output_tokens_details":{"reasoning_tokens":10},"total_tokens":130}';

const reasoning = '{"id":"rs_1","type":"reasoning", "summary":[],"encrypted_content":"x","n":1e3}';
const text =
  '{"id":"msg_1","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","annotations":[],"logprobs":[],"text":"Reading."}]}';
const call =
  '{"id":"fc_1","type":"function_call","status":"completed","arguments":"{\\"b\\":1.0, \\"a\\":2}","call_id":"c1","name":"Read"}';

function response(output: readonly string[], more = '"status":"completed"'): string {
  return `{"id":"resp_1","object":"response","error":null,"model":"gpt-6.1-sol",${more},"output":[${output.join(", ")}],"usage":${usage}}`;
}

describe("a whole response", () => {
  test("becomes a reply with every item at its place", () => {
    const reply = asReply(openaiResponses.decode(response([reasoning, text, call])));
    expect(reply).toEqual({
      kind: "reply",
      id: "resp_1",
      model: "gpt-6.1-sol",
      message: {
        role: "assistant",
        content: [
          { type: "opaque", json: reasoning },
          { type: "text", text: "Reading." },
          { type: "tool_use", id: "c1", name: "Read", inputJson: '{"b":1.0, "a":2}' },
        ],
      },
      stopReason: "tool_use",
      usage: {
        usage: {
          uncachedTokens: 10,
          cacheReadTokens: 60,
          cacheWriteTokens: { "30m": 10, "12h": 20 },
          outputTokens: 20,
          reasoningTokens: 10,
        },
        isReported: true,
        reportsCache: true,
        warnings: [],
      },
      status: "complete",
      transformations: [],
    });
    expect(validateMessage(reply.message)).toEqual([]);
  });

  test.each([
    [[text], '"status":"completed"', "end_turn"],
    [[call], '"status":"completed"', "tool_use"],
    [
      [text],
      '"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"}',
      "max_tokens",
    ],
    [[text], '"status":"incomplete","incomplete_details":{"reason":"content_filter"}', "refusal"],
    [[text], '"status":"incomplete","incomplete_details":{"reason":"steered"}', "unknown"],
    [
      ['{"type":"message","role":"assistant","content":[{"type":"refusal","refusal":"No."}]}'],
      '"status":"completed"',
      "refusal",
    ],
  ])("%j with %s stops by %s", (output, status, stop) => {
    const reply = asReply(openaiResponses.decode(response(output, status)));
    expect([reply.stopReason, reply.status]).toEqual([stop, "complete"]);
  });

  test.each([
    '{"type":"message","role":"assistant","phase":"commentary","content":[{"type":"output_text","text":"a"}]}',
    '{"type":"message","role":"assistant","content":[{"type":"output_text","text":"a","annotations":[{"type":"url_citation"}]}]}',
    '{"type":"message","role":"assistant","content":[{"type":"refusal","refusal":"a"}]}',
  ])("a message that says more than its text keeps the item beside the text: %s", (item) => {
    const { message } = asReply(openaiResponses.decode(response([item])));
    expect(message.content).toEqual([
      { type: "opaque", json: item },
      { type: "text", text: "a" },
    ]);
    expect(validateMessage(message)).toEqual([]);
  });

  test("a call that says more than its arguments keeps the item beside the call", () => {
    const item =
      '{"type":"function_call","namespace":"mcp","arguments":"{}","call_id":"c1","name":"Read"}';
    expect(asReply(openaiResponses.decode(response([item]))).message.content).toEqual([
      { type: "opaque", json: item },
      { type: "tool_use", id: "c1", name: "Read", inputJson: "{}" },
    ]);
  });

  test("an item of an unknown type is kept to the byte", () => {
    const item = '{"type":"dream", "depth":1.0}';
    expect(asReply(openaiResponses.decode(response([item]))).message.content).toEqual([
      { type: "opaque", json: item },
    ]);
  });

  test("has the reason of a cache miss if the provider reports it", () => {
    const miss =
      '"status":"completed","prompt_cache_diagnostics":{"type":"cache_miss","reason":"tools_changed"}';
    expect(asReply(openaiResponses.decode(response([text], miss))).diagnosis).toBe("tools_changed");
    const hit = '"status":"completed","prompt_cache_diagnostics":{"type":"cache_hit"}';
    expect(asReply(openaiResponses.decode(response([text], hit))).diagnosis).toBeUndefined();
  });

  test.each([
    ["<html>", "malformed"],
    ['{"id":"resp_1"}', "malformed"],
    ['{"error":{"message":"No.","code":"rate_limit_exceeded"}}', "rate-limited"],
    [
      '{"status":"failed","error":{"code":"server_error","message":"Sorry."},"output":[]}',
      "server-error",
    ],
    ['{"status":"failed","error":null,"output":[]}', "server-error"],
  ])("%s is a failure: %s", (body, kind) => {
    expect(openaiResponses.decode(body).kind).toBe(kind);
  });

  test("strange fields are no reason to fail", () => {
    const body =
      '{"id":7,"status":"completed","output":[3,{"type":"message","role":"assistant","content":null},{"type":"function_call"}],"usage":[]}';
    expect(asReply(openaiResponses.decode(body)).message.content).toEqual([
      { type: "opaque", json: "3" },
      { type: "opaque", json: '{"type":"message","role":"assistant","content":null}' },
      { type: "opaque", json: '{"type":"function_call"}' },
    ]);
  });
});

const begun =
  '{"type":"response.created","response":{"id":"resp_1","model":"gpt-6.1-sol","status":"in_progress","error":null,"output":[],"usage":null}}';
const pieces = [
  begun,
  '{"type":"response.output_item.added","output_index":0,"item":{"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":"half"}}',
  '{"type":"response.reasoning_summary_text.delta","output_index":0,"delta":"Hm."}',
  `{"type":"response.output_item.done","output_index":0,"item":${reasoning},"sequence_number":3}`,
  '{"type":"response.output_item.added","output_index":1,"item":{"id":"msg_1","type":"message","role":"assistant","content":[]}}',
  '{"type":"response.content_part.added","output_index":1}',
  '{"type":"response.output_text.delta","output_index":1,"delta":"Rea"}',
  '{"type":"response.output_text.delta","output_index":1,"delta":"ding."}',
  `{"type":"response.output_item.done","output_index":1,"item":${text}}`,
  '{"type":"response.output_item.added","output_index":2,"item":{"id":"fc_1","type":"function_call","arguments":"","call_id":"c1","name":"Read"}}',
  '{"type":"response.function_call_arguments.delta","output_index":2,"delta":"{\\"b\\":1.0,"}',
  '{"type":"response.function_call_arguments.delta","output_index":2,"delta":" \\"a\\":2}"}',
  `{"type":"response.output_item.done","output_index":2,"item":${call}}`,
];
const completed = `{"type":"response.completed","response":${response([reasoning, text, call])}}`;

describe("a streamed response", () => {
  test("gives the reply that one whole answer would give", () => {
    const { reply, parts } = readStream(openaiResponses, [...pieces, completed]);
    expect(reply).toEqual(openaiResponses.decode(response([reasoning, text, call])));
    expect(parts).toEqual([
      { type: "thinking", text: "Hm." },
      { type: "text", text: "Rea" },
      { type: "text", text: "ding." },
      { type: "tool", toolUseId: "c1", name: "Read" },
      { type: "tool-input", toolUseId: "c1", json: '{"b":1.0,' },
      { type: "tool-input", toolUseId: "c1", json: ' "a":2}' },
    ]);
  });

  test("of which only the end arrived has the content of the end", () => {
    const { reply } = readStream(openaiResponses, [completed]);
    expect(reply).toEqual(openaiResponses.decode(response([reasoning, text, call])));
  });

  test("that is cut gives what arrived, marked as partial", () => {
    expect(readStream(openaiResponses, pieces.slice(0, 3)).reply).toMatchObject({
      id: "resp_1",
      status: "partial",
      stopReason: "unknown",
      message: { content: [{ type: "thinking", text: "Hm." }] },
      usage: { isReported: false, reportsCache: false, warnings: ["the reply reports no usage"] },
    });
    expect(readStream(openaiResponses, pieces.slice(0, 11)).reply).toMatchObject({
      status: "partial",
      message: {
        content: [
          { type: "opaque", json: reasoning },
          { type: "text", text: "Reading." },
          {
            type: "tool_use",
            id: "c1",
            name: "Read",
            inputJson: '{"invalid_arguments":"{\\"b\\":1.0,"}',
          },
        ],
      },
    });
    expect(readStream(openaiResponses, [begun]).reply).toMatchObject({
      status: "partial",
      message: { content: [] },
    });
  });

  test("that was cut by the output limit is complete, and says so", () => {
    const end = `{"type":"response.incomplete","response":${response([text], '"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"}')}}`;
    expect(readStream(openaiResponses, [begun, end]).reply).toMatchObject({
      status: "complete",
      stopReason: "max_tokens",
      message: { content: [{ type: "text", text: "Reading." }] },
    });
  });

  test.each([
    ['{"type":"error","code":"server_error","message":"Sorry.","param":null}', "server-error"],
    [
      '{"type":"error","error":{"type":"invalid_request_error","code":"context_length_exceeded","message":"Your input exceeds the context window of this model."}}',
      "context-overflow",
    ],
    [
      '{"type":"response.failed","response":{"id":"resp_1","status":"failed","error":{"code":"rate_limit_exceeded","message":"Wait."},"output":[]}}',
      "rate-limited",
    ],
    ['{"type":"error"}', "malformed"],
  ])("that fails with %s is %s, or a partial reply with that failure", (event, kind) => {
    expect(readStream(openaiResponses, [begun, event]).reply.kind).toBe(kind);
    expect(readStream(openaiResponses, [...pieces.slice(0, 9), event]).reply).toMatchObject({
      kind: "reply",
      status: "partial",
      failure: { kind },
      message: {
        content: [
          { type: "opaque", json: reasoning },
          { type: "text", text: "Reading." },
        ],
      },
    });
  });

  test("without anything in it is malformed, and unreadable events are counted", () => {
    expect(readStream(openaiResponses, []).reply.kind).toBe("malformed");
    const { reply } = readStream(openaiResponses, [...pieces, "?", completed, "[DONE]"]);
    expect(asReply(reply).usage.warnings).toEqual(["events that could not be read: 1"]);
  });

  test("is read by the event's name where its data has none", () => {
    const { stream } = openaiResponses;
    const [state, parts] = stream.step(stream.start, {
      event: "response.output_text.delta",
      data: '{"output_index":0,"delta":"a"}',
    });
    expect(parts).toEqual([{ type: "text", text: "a" }]);
    expect(asReply(stream.finish(state)).message.content).toEqual([{ type: "text", text: "a" }]);
  });
});

test.each(["5", "null", "[]", '"text"', "{}"])(
  "a stream that ends with the response %s ends",
  (end) => {
    const { reply } = readStream(openaiResponses, [
      `{"type":"response.completed","response":${end}}`,
    ]);
    expect(asReply(reply)).toMatchObject({ status: "partial", message: { content: [] } });
  },
);
