import { describe, expect, test } from "vitest";
import { readRequest } from "../../foreign/read-request.ts";
import type { ServerEvent } from "../../protocol.ts";
import { brokenFrames, exceptionEvent } from "../../service-exceptions.ts";
import { bodyOn, encodeOn, planOf, sonnet } from "../test-kit.ts";
import { bedrockInvoke } from "./index.ts";

const read = { name: "Read", description: "Reads.", inputSchemaJson: '{"type":"object"}' };
const model = "global.anthropic.claude-haiku-4-5-20251001-v1%3A0";

describe("a request", () => {
  test("is that of the Messages API without model and stream, with the version and the betas in it", () => {
    const plan = planOf({ 1: "1h" });
    const options = { betas: ["one"], stream: true, temperature: 0.5 };
    const encoding = { tools: [read], system: ["Be brief."], plan, options };
    expect(bodyOn(bedrockInvoke, encoding)).toBe(
      '{"anthropic_version":"bedrock-2023-05-31","max_tokens":100,"anthropic_beta":["one"],' +
        '"tools":[{"name":"Read","description":"Reads.","input_schema":{"type":"object"}}],' +
        '"system":[{"type":"text","text":"Be brief.","cache_control":{"type":"ephemeral","ttl":"1h"}}],' +
        '"messages":[{"role":"user","content":[{"type":"text","text":"Hi."}]}],"temperature":0.5}',
    );
    const { path, headers, betas } = encodeOn(bedrockInvoke, encoding);
    expect([path, headers, betas]).toEqual([
      `/model/${model}/invoke-with-response-stream`,
      { accept: "application/json" },
      ["one"],
    ]);
    expect(encodeOn(bedrockInvoke, {}).path).toBe(`/model/${model}/invoke`);
  });

  test("writes version and betas itself, and asks for no diagnosis", () => {
    const extraJson = { anthropic_version: '"x"', anthropic_beta: "[]" };
    const { notes } = encodeOn(bedrockInvoke, { options: { extraJson } });
    expect(notes.map(({ detail }) => detail)).toEqual([
      "anthropic_version: written from the call itself",
      "anthropic_beta: written from the call itself",
    ]);
    expect(bedrockInvoke.diagnosisMember).toBeUndefined();
    expect(sonnet.cache.diagnostics).toBe(false);
  });

  test("is counted by its whole body", () => {
    const request = encodeOn(bedrockInvoke, {});
    const counting = bedrockInvoke.counting?.encode(request);
    expect(counting?.path).toBe(`/model/${model}/count-tokens`);
    const base64 = Buffer.concat(request.pieces).toString("base64");
    expect(counting?.toObject()).toEqual({ input: { invokeModel: { body: base64 } } });
  });
});

/** As frames hold it, with the padding that AWS adds. */
function chunk(event: object): ServerEvent {
  const bytes = Buffer.from(JSON.stringify(event)).toString("base64");
  return { event: "chunk", data: JSON.stringify({ bytes, p: "abcdefgh" }) };
}

function decodeAll(events: readonly ServerEvent[]) {
  const { stream } = bedrockInvoke;
  let state = stream.start;
  for (const event of events) [state] = stream.step(state, event);
  return stream.finish(state);
}

const talk = [
  {
    type: "message_start",
    message: { id: "msg_1", model: "claude", usage: { input_tokens: 3, output_tokens: 1 } },
  },
  { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
  { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Grüße." } },
  { type: "content_block_stop", index: 0 },
  { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 4 } },
  { type: "message_stop", "amazon-bedrock-invocationMetrics": { inputTokenCount: 3 } },
].map(chunk);

describe("a stream", () => {
  test("has one event of the Messages API in each frame", () => {
    expect(decodeAll(talk)).toMatchObject({
      kind: "reply",
      id: "msg_1",
      status: "complete",
      message: { content: [{ type: "text", text: "Grüße." }] },
      usage: { usage: { uncachedTokens: 3, outputTokens: 4 }, warnings: [] },
    });
  });

  test("of a gateway may have the events as they are", () => {
    const [first] = talk;
    const plain = { event: "message_start", data: '{"type":"message_start","message":{"id":"m"}}' };
    expect(decodeAll([plain, ...talk.slice(1)])).toMatchObject({ id: "m", status: "complete" });
    expect(first?.event).toBe("chunk");
  });

  test("ends with an exception, and keeps what arrived", () => {
    const exception = exceptionEvent({ name: "throttlingException", data: '{"message":"Slow."}' });
    expect(decodeAll([exception])).toMatchObject({ kind: "rate-limited", detail: "Slow." });
    expect(decodeAll([...talk.slice(0, 3), exception])).toMatchObject({
      status: "partial",
      message: { content: [{ text: "Grüße." }] },
      failure: { kind: "rate-limited" },
    });
  });

  test("with a frame that holds no event, or with broken frames, is malformed", () => {
    const empty = { event: "chunk", data: '{"bytes":"%"}' };
    expect(decodeAll([empty])).toMatchObject({
      kind: "malformed",
      detail: 'a frame holds no event: {"bytes":"%"}',
    });
    expect(decodeAll([...talk.slice(0, 3), brokenFrames("cut")])).toMatchObject({
      failure: { kind: "malformed", detail: "cut" },
    });
  });
});

describe("a request of another client, such as Claude Code", () => {
  const body = {
    anthropic_version: "bedrock-2023-05-31",
    max_tokens: 10,
    system: [{ type: "text", text: "Be brief.", cache_control: { type: "ephemeral" } }],
    messages: [{ role: "user", content: "Hi." }],
  };

  test("is read with the model of its path", () => {
    const path = "/model/us.anthropic.claude-sonnet-4-6/invoke-with-response-stream";
    const request = readRequest(JSON.stringify(body), { address: { path, headers: {} } });
    expect([request.protocol, request.model]).toEqual([
      "bedrock-invoke",
      "us.anthropic.claude-sonnet-4-6",
    ]);
    expect(request.markers).toEqual([{ block: 0, lifetime: "5m", path: "system.0" }]);
    expect(request.blocks.map(({ text }) => text)).toEqual(["Be brief.", "Hi."]);
  });

  test("is recognised without its path by the version in it, an older or a newer one", () => {
    for (const version of ["bedrock-2023-05-31", "2023-06-01"]) {
      const request = JSON.stringify({ ...body, anthropic_version: version });
      expect(readRequest(request).protocol).toBe("bedrock-invoke");
    }
  });
});
