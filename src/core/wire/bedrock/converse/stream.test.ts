import { describe, expect, test } from "vitest";
import type { ServerEvent } from "../../protocol.ts";
import type { StreamPart } from "../../reply.ts";
import { brokenFrames, exceptionEvent } from "../../service-exceptions.ts";
import { streamDecoder, type StreamState } from "./stream.ts";

const start: ServerEvent = { event: "messageStart", data: '{"role":"assistant","p":"abcd"}' };
const stop: ServerEvent = { event: "messageStop", data: '{"stopReason":"tool_use"}' };
const metadata: ServerEvent = {
  event: "metadata",
  data: '{"usage":{"inputTokens":3,"outputTokens":2,"totalTokens":5,"cacheReadInputTokens":9},"metrics":{"latencyMs":7}}',
};

function delta(index: number, json: string): ServerEvent {
  return { event: "contentBlockDelta", data: `{"contentBlockIndex":${index},"delta":${json}}` };
}

function useStart(index: number, id: string): ServerEvent {
  const use = `{"toolUse":{"toolUseId":"${id}","name":"Read"}}`;
  return { event: "contentBlockStart", data: `{"contentBlockIndex":${index},"start":${use}}` };
}

function read(...events: readonly ServerEvent[]) {
  let state: StreamState = streamDecoder.start;
  const parts: StreamPart[] = [];
  for (const event of events) {
    const [next, more] = streamDecoder.step(state, event);
    state = next;
    parts.push(...more);
  }
  return { outcome: streamDecoder.finish(state), parts };
}

const talk: readonly ServerEvent[] = [
  start,
  delta(0, '{"reasoningContent":{"text":"H"}}'),
  delta(0, '{"reasoningContent":{"text":"m."}}'),
  delta(0, '{"reasoningContent":{"signature":"c2ln"}}'),
  { event: "contentBlockStop", data: '{"contentBlockIndex":0}' },
  delta(1, '{"reasoningContent":{"redactedContent":"c2VhbA=="}}'),
  delta(2, '{"text":"I "}'),
  delta(2, '{"text":"will."}'),
  useStart(3, "t1"),
  delta(3, '{"toolUse":{"input":"{\\"10\\":1.0"}}'),
  delta(3, '{"toolUse":{"input":", \\"2\\":1e3}"}}'),
  useStart(4, "t2"),
  stop,
  metadata,
];

describe("a stream", () => {
  test("is the reply that a whole answer would be, with its usage at the end", () => {
    expect(read(...talk).outcome).toMatchObject({
      kind: "reply",
      status: "complete",
      stopReason: "tool_use",
      message: {
        role: "assistant",
        content: [
          { type: "thinking", text: "Hm.", signature: "c2ln" },
          { type: "redacted_thinking", data: "c2VhbA==" },
          { type: "text", text: "I will." },
          { type: "tool_use", id: "t1", name: "Read", inputJson: '{"10":1.0, "2":1e3}' },
          { type: "tool_use", id: "t2", name: "Read", inputJson: "{}" },
        ],
      },
      usage: { usage: { uncachedTokens: 3, cacheReadTokens: 9, outputTokens: 2 }, warnings: [] },
    });
  });

  test("gives its parts as they come", () => {
    expect(read(...talk).parts).toEqual([
      { type: "thinking", text: "H" },
      { type: "thinking", text: "m." },
      { type: "text", text: "I " },
      { type: "text", text: "will." },
      { type: "tool", toolUseId: "t1", name: "Read" },
      { type: "tool-input", toolUseId: "t1", json: '{"10":1.0' },
      { type: "tool-input", toolUseId: "t1", json: ', "2":1e3}' },
      { type: "tool", toolUseId: "t2", name: "Read" },
    ]);
  });

  test("that ends early is a part of a reply, and its usage is not known", () => {
    expect(read(...talk.slice(0, 7)).outcome).toMatchObject({
      status: "partial",
      message: { content: [{ type: "thinking" }, { type: "redacted_thinking" }, { text: "I " }] },
      usage: { isReported: false },
    });
    expect(read().outcome).toEqual({
      kind: "malformed",
      detail: "the stream ended before a reply began",
    });
  });

  test("keeps an input that was cut off as it came", () => {
    const { outcome } = read(start, useStart(0, "t1"), delta(0, '{"toolUse":{"input":"{\\"a"}}'));
    expect(outcome).toMatchObject({ message: { content: [{ inputJson: '{"a' }] } });
  });

  test("counts what it cannot use", () => {
    const { outcome } = read(start, delta(0, '{"text":"A."}'), delta(0, '{"citation":{}}'), stop);
    expect(outcome).toMatchObject({
      message: { content: [{ type: "text", text: "A." }] },
      usage: {
        warnings: ["the reply has no usage", 'left out: 1 pieces of the unknown type "citation"'],
      },
    });
  });

  test("is read as SDKs show it, too: one member, named like the event", () => {
    const events = talk.map(({ event, data }): ServerEvent => ({
      event: undefined,
      data: `{"${event}":${data}}`,
    }));
    expect(read(...events).outcome).toEqual(read(...talk).outcome);
  });

  test.each([
    ["throttlingException", "rate-limited"],
    ["serviceUnavailableException", "overloaded"],
    ["internalServerException", "server-error"],
    ["modelStreamErrorException", "server-error"],
    ["validationException", "invalid-request"],
  ])("ends with the exception %s, and keeps what arrived", (name, kind) => {
    const exception = exceptionEvent({ name, data: '{"message":"Told you."}' });
    expect(read(exception).outcome).toMatchObject({ kind, detail: "Told you." });
    expect(read(start, delta(0, '{"text":"A."}'), exception).outcome).toMatchObject({
      kind: "reply",
      status: "partial",
      message: { content: [{ text: "A." }] },
      failure: { kind, detail: "Told you." },
    });
  });

  test("whose frames break is malformed", () => {
    const broken = brokenFrames("the checksum of a frame is wrong");
    const expected = { kind: "malformed", detail: "the checksum of a frame is wrong" };
    expect(read(broken).outcome).toEqual(expected);
    expect(read(start, broken).outcome).toMatchObject({ status: "partial", failure: expected });
  });
});
