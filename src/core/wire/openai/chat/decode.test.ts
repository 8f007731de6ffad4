import { describe, expect, test } from "vitest";
import { openaiChat } from "./index.ts";
import { asReply, readStream } from "../test-kit.ts";

const usage = {
  prompt_tokens: 100,
  completion_tokens: 30,
  prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 30 },
  completion_tokens_details: { reasoning_tokens: 10 },
};

const reported = {
  usage: {
    uncachedTokens: 10,
    cacheReadTokens: 60,
    cacheWriteTokens: { "30m": 30 },
    outputTokens: 20,
    reasoningTokens: 10,
  },
  isReported: true,
  reportsCache: true,
  unnamedWriteTokens: { tokens: 30, standsAs: "30m" },
  warnings: [],
};

function completion(message: object, finish_reason: string | null, more: object = {}): string {
  const choices = [{ index: 0, message: { role: "assistant", ...message }, finish_reason }];
  return JSON.stringify({ id: "chatcmpl-1", model: "gpt-6.1-sol", choices, usage, ...more });
}

function call(id: string, args: string): object {
  return { id, type: "function", function: { name: "Read", arguments: args } };
}

describe("a whole completion", () => {
  test("becomes a reply with text, calls, stop reason and usage", () => {
    const tool_calls = [call("c1", '{"b":1.0, "a":2}'), call("c2", "")];
    const body = completion({ content: "Reading.", refusal: null, tool_calls }, "tool_calls");
    expect(openaiChat.decode(body)).toEqual({
      kind: "reply",
      id: "chatcmpl-1",
      model: "gpt-6.1-sol",
      message: {
        role: "assistant",
        content: [
          { type: "text", text: "Reading." },
          { type: "tool_use", id: "c1", name: "Read", inputJson: '{"b":1.0, "a":2}' },
          { type: "tool_use", id: "c2", name: "Read", inputJson: "{}" },
        ],
      },
      stopReason: "tool_use",
      usage: reported,
      status: "complete",
      transformations: [],
    });
  });

  test.each([
    [{ content: "x" }, "stop", "end_turn"],
    [{ content: "x" }, "length", "max_tokens"],
    [{ content: null, tool_calls: [call("c1", "{}")] }, "stop", "tool_use"],
    [{ content: null, refusal: "No." }, "stop", "refusal"],
    [{ content: "x" }, "content_filter", "refusal"],
    [{ content: "x" }, "new_reason", "unknown"],
    [{ content: "x" }, null, "unknown"],
  ])("%j that ends with %s stops by %s", (message, reason, stop) => {
    const reply = asReply(openaiChat.decode(completion(message, reason)));
    expect(reply.stopReason).toBe(stop);
  });

  test("a refusal is the model's text", () => {
    const reply = asReply(openaiChat.decode(completion({ content: null, refusal: "No." }, "stop")));
    expect(reply.message.content).toEqual([{ type: "text", text: "No." }]);
  });

  test("thinking that a provider shows is kept as thinking", () => {
    const body = completion({ content: "x", reasoning_content: "hm" }, "stop");
    expect(asReply(openaiChat.decode(body)).message.content).toEqual([
      { type: "thinking", text: "hm" },
      { type: "text", text: "x" },
    ]);
  });

  test("a call in free text is kept as it is", () => {
    const custom = { id: "c1", type: "custom", custom: { name: "sh", input: "ls" } };
    const body = completion({ content: null, tool_calls: [custom] }, "tool_calls");
    expect(asReply(openaiChat.decode(body)).message.content).toEqual([
      { type: "opaque", json: '{"id":"c1","type":"custom","custom":{"name":"sh","input":"ls"}}' },
    ]);
  });

  test("strange fields are no reason to fail", () => {
    const body = completion({ content: 7, tool_calls: [null, { function: 3 }] }, "stop", {
      id: null,
      usage: "much",
    });
    expect(openaiChat.decode(body)).toMatchObject({
      kind: "reply",
      id: "",
      message: {
        content: [
          { type: "tool_use", id: "", name: "", inputJson: "{}" },
          { type: "tool_use", id: "", name: "", inputJson: "{}" },
        ],
      },
      usage: { isReported: false, reportsCache: false, warnings: ["the reply reports no usage"] },
    });
  });

  test.each([
    ["<html>", "malformed"],
    ["[]", "malformed"],
    ['{"choices":[]}', "malformed"],
    ['{"error":{"message":"Slow down","code":429}}', "rate-limited"],
  ])("%s is a failure: %s", (body, kind) => {
    expect(openaiChat.decode(body).kind).toBe(kind);
  });
});

function chunk(delta: object, finish_reason: string | null = null): string {
  const choices = [{ index: 0, delta, finish_reason }];
  return JSON.stringify({ id: "chatcmpl-1", model: "gpt-6.1-sol", choices, usage: null });
}

const pieces = [
  chunk({ role: "assistant", content: "", refusal: null }),
  chunk({ content: "Rea" }),
  chunk({ content: "ding." }),
  chunk({ tool_calls: [{ index: 0, ...call("c1", "") }] }),
  chunk({ tool_calls: [{ index: 0, function: { arguments: '{"b":' } }] }),
  chunk({ tool_calls: [{ index: 1, ...call("c2", "{") }] }),
  chunk({ tool_calls: [{ index: 0, function: { arguments: "1.0}" } }] }),
  chunk({ tool_calls: [{ index: 1, function: { arguments: "}" } }] }),
];
const ending = [
  chunk({}, "tool_calls"),
  JSON.stringify({ id: "chatcmpl-1", choices: [], usage }),
  "[DONE]",
];

describe("a stream of chunks", () => {
  test("gives the reply that one whole answer would give", () => {
    const { reply, parts } = readStream(openaiChat, [...pieces, ...ending]);
    const tool_calls = [call("c1", '{"b":1.0}'), call("c2", "{}")];
    expect(reply).toEqual(
      openaiChat.decode(completion({ content: "Reading.", tool_calls }, "tool_calls")),
    );
    expect(parts).toEqual([
      { type: "text", text: "Rea" },
      { type: "text", text: "ding." },
      { type: "tool", toolUseId: "c1", name: "Read" },
      { type: "tool-input", toolUseId: "c1", json: '{"b":' },
      { type: "tool", toolUseId: "c2", name: "Read" },
      { type: "tool-input", toolUseId: "c2", json: "{" },
      { type: "tool-input", toolUseId: "c1", json: "1.0}" },
      { type: "tool-input", toolUseId: "c2", json: "}" },
    ]);
  });

  test("that is cut gives what arrived, marked as partial", () => {
    const { reply } = readStream(openaiChat, pieces.slice(0, 5));
    expect(reply).toMatchObject({
      status: "partial",
      stopReason: "unknown",
      message: {
        content: [
          { type: "text", text: "Reading." },
          { type: "tool_use", id: "c1", inputJson: '{"invalid_arguments":"{\\"b\\":"}' },
        ],
      },
      usage: { isReported: false, reportsCache: false, warnings: ["the reply reports no usage"] },
    });
  });

  test("that reports an error gives what arrived and the failure", () => {
    const error = '{"error":{"message":"The server had an error","type":"server_error"}}';
    const { reply } = readStream(openaiChat, [...pieces.slice(0, 2), error]);
    expect(reply).toMatchObject({
      status: "partial",
      message: { content: [{ type: "text", text: "Rea" }] },
      failure: { kind: "server-error", detail: "The server had an error" },
    });
    expect(readStream(openaiChat, [error]).reply).toMatchObject({ kind: "server-error" });
  });

  test("without anything in it is malformed", () => {
    expect(readStream(openaiChat, []).reply.kind).toBe("malformed");
  });

  test("counts events it cannot read", () => {
    const { reply } = readStream(openaiChat, [...pieces, "{", ...ending]);
    expect(asReply(reply).usage.warnings).toEqual(["events that could not be read: 1"]);
  });

  test("can be read on from any state it was in", () => {
    const { stream } = openaiChat;
    const states = [stream.start];
    for (const data of [...pieces, ...ending]) {
      const [next] = stream.step(states.at(-1), { event: undefined, data });
      states.push(next);
    }
    const [again] = stream.step(states[3], {
      event: undefined,
      data: chunk({ content: "!" }, "stop"),
    });
    expect(asReply(stream.finish(again)).message.content).toEqual([
      { type: "text", text: "Reading.!" },
    ]);
    expect(asReply(stream.finish(states[3])).message.content).toEqual([
      { type: "text", text: "Reading." },
    ]);
    expect(asReply(stream.finish(states.at(-1))).stopReason).toBe("tool_use");
  });
});
