import { describe, expect, test } from "vitest";
import { decodeBlock, decodeMessage } from "./decode-message.ts";
import { encodeBlock, encodeMessage } from "./encode-message.ts";

describe("a message in our own spelling", () => {
  const texts = {
    text: '{"role":"user","content":[{"type":"text","text":"hi \\ud800"}]}',
    image:
      '{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AA=="}}]}',
    document:
      '{"role":"user","content":[{"type":"document","source":{"type":"url","url":"https://x.test"},"title":"T"}]}',
    "tool use":
      '{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Read","input":{"2":1.0,"1":12345678901234567890}}]}',
    "tool result":
      '{"role":"tool","content":[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"ok"}],"is_error":true}]}',
    thinking:
      '{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"redacted_thinking","data":"x"}]}',
    compaction: '{"role":"assistant","content":[{"type":"compaction","content":null}]}',
  };

  test.each(Object.entries(texts))("round-trips without keeping a copy: %s", (_name, text) => {
    const message = decodeMessage(text);
    expect(message.json).toBeUndefined();
    expect(message.content.every((block) => block.json === undefined)).toBe(true);
    expect(encodeMessage(message)).toBe(text);
  });

  test("keeps a tool's input as the text it was, integer-like keys and long numbers included", () => {
    const [block] = decodeMessage(texts["tool use"]).content;
    expect(block).toEqual({
      type: "tool_use",
      id: "t1",
      name: "Read",
      inputJson: '{"2":1.0,"1":12345678901234567890}',
    });
  });
});

describe("a message spelled otherwise", () => {
  test("keeps its exact text beside its meaning", () => {
    const text = '{ "content": "caf\\u00e9", "role":"user" }';
    const message = decodeMessage(text);
    expect(message).toEqual({
      role: "user",
      content: [{ type: "text", text: "café" }],
      json: text,
    });
    expect(encodeMessage(message)).toBe(text);
  });

  test("keeps fields we do not know on blocks we do", () => {
    const text = '{"type":"text","text":"see","citations":[{"n":1.0}]}';
    expect(decodeBlock(text)).toEqual({ type: "text", text: "see", json: text });
    expect(encodeBlock(decodeBlock(text))).toBe(text);
  });

  test("passes a block of an unknown type through to the byte", () => {
    const text = '{"type":"server_tool_use", "id":1e3}';
    expect(decodeBlock(text)).toEqual({ type: "opaque", json: text });
  });

  test.each([
    '{"type":"text","text":5}',
    '{"type":"image","source":null}',
    '{"type":"tool_use","id":"a","name":"b"}',
    '{"type":"tool_result","tool_use_id":"a","content":null}',
    '{"type":"tool_result","tool_use_id":"a","is_error":"true"}',
    '{"type":"thinking","thinking":"x","signature":5}',
    '{"type":"compaction","content":[]}',
    '{"type":"redacted_thinking"}',
  ])("keeps a known type in a shape we do not know as it is, never half understood: %s", (text) => {
    expect(decodeBlock(text)).toEqual({ type: "opaque", json: text });
  });

  test("takes the last of duplicate keys, as every parser does, and keeps them all", () => {
    const text =
      '{"role":"user","role":"assistant","content":"a","content":[{"type":"text","text":"b","text":"c"}]}';
    const message = decodeMessage(text);
    expect(message.role).toBe("assistant");
    expect(message.content).toMatchObject([{ type: "text", text: "c" }]);
    expect(encodeMessage(message)).toBe(text);
  });

  test("escapes a bare lone surrogate, which no bytes can carry", () => {
    const message = decodeMessage('{"role":"user","content":"\ud800"}');
    expect(message.content).toEqual([{ type: "text", text: "\ud800" }]);
    expect(encodeMessage(message)).toBe('{"role":"user","content":"\\ud800"}');
  });

  test("treats a tool result inside a tool result as opaque, so depth cannot hurt", () => {
    const depth = 20_000;
    const open = '{"type":"tool_result","tool_use_id":"t","content":[';
    const text = open.repeat(depth) + "]}".repeat(depth);
    const block = decodeBlock(text);
    expect(block.type === "tool_result" && block.content[0]?.type).toBe("opaque");
    expect(encodeBlock(block)).toBe(text);
  });
});

describe("what is not a message", () => {
  test.each([
    ["{", /^the message is not JSON/],
    ["[]", "message must be an object"],
    [
      '{"role":"robot","content":[]}',
      'message.role must be user, assistant, system or tool, not "robot"',
    ],
    ['{"role":"user"}', "message.content must be text or a list of blocks"],
    ['{"role":"user","content":[7]}', "message.content.0 must be an object"],
    ['{"role":"user","content":null}', "message.content must be text or a list of blocks"],
  ])("gets an error that names the part: %s", (text, error) => {
    expect(() => decodeMessage(text)).toThrow(error);
  });
});
