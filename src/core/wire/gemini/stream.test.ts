import { expect, test } from "vitest";
import { createParser } from "eventsource-parser";
import { gemini } from "./index.ts";
import { answerWith, asReply, eventWith, readStream } from "./test-kit.ts";

const call =
  '{"functionCall":{"name":"Read","args":{"b":1,"a":2.0},"id":"f1"},"thoughtSignature":"c2ln"}';

test("pieces of a text become one, and a signature stays on the piece that had it", () => {
  const { reply, parts } = readStream([
    eventWith(['{"text":"Let me ","thought":true}']),
    eventWith(['{"text":"see.","thought":true}']),
    eventWith(['{"text":"It "}']),
    eventWith(['{"text":"is"}']),
    eventWith(['{"text":"","thoughtSignature":"ZW5k"}']),
    eventWith([call]),
    answerWith(['{"text":""}']),
  ]);
  expect(asReply(reply).message.content).toEqual([
    {
      type: "opaque",
      json: '{"type":"thinking_part","part":{"text":"Let me see.","thought":true}}',
    },
    { type: "text", text: "It is" },
    {
      type: "opaque",
      json: '{"type":"thinking_part","part":{"text":"","thoughtSignature":"ZW5k"}}',
    },
    { type: "opaque", json: `{"type":"thinking_part","part":${call}}` },
    { type: "tool_use", id: "f1", name: "Read", inputJson: '{"b":1,"a":2.0}' },
  ]);
  expect(asReply(reply)).toMatchObject({ stopReason: "tool_use", status: "complete" });
  expect(parts).toEqual([
    { type: "thinking", text: "Let me " },
    { type: "thinking", text: "see." },
    { type: "text", text: "It " },
    { type: "text", text: "is" },
    { type: "tool", toolUseId: "f1", name: "Read" },
    { type: "tool-input", toolUseId: "f1", json: '{"b":1,"a":2.0}' },
  ]);
});

test("a text is signed with its first piece, and one part with all its text", () => {
  const { reply } = readStream([
    eventWith(['{"text":"Hel","thoughtSignature":"c2ln","partMetadata":{"b":1.0}}']),
    eventWith(['{"text":"l"}']),
    eventWith(['{"text":"o."}']),
    answerWith(['{"text":"Bye.","thoughtSignature":"ZW5k"}']),
  ]);
  expect(asReply(reply).message.content).toEqual([
    {
      type: "opaque",
      json: '{"type":"thinking_part","part":{"text":"Hello.","thoughtSignature":"c2ln","partMetadata":{"b":1.0}}}',
    },
    { type: "text", text: "Hello." },
    {
      type: "opaque",
      json: '{"type":"thinking_part","part":{"text":"Bye.","thoughtSignature":"ZW5k"}}',
    },
    { type: "text", text: "Bye." },
  ]);
});

test("parts that come in one event stay apart", () => {
  const { reply } = readStream([answerWith(['{"text":"a"}', '{"text":"b"}'])]);
  expect(asReply(reply).message.content).toEqual([
    { type: "text", text: "a" },
    { type: "text", text: "b" },
  ]);
});

test("the last event that has a count says it", () => {
  const { reply } = readStream([
    eventWith(['{"text":"a"}'], {
      usageMetadata: { promptTokenCount: 50, cachedContentTokenCount: 40, candidatesTokenCount: 1 },
    }),
    eventWith(['{"text":"b"}'], {
      usageMetadata: { promptTokenCount: 50, candidatesTokenCount: 2, thoughtsTokenCount: null },
    }),
    answerWith(['{"text":"c"}'], {
      usageMetadata: { candidatesTokenCount: 3, thoughtsTokenCount: 7 },
    }),
  ]);
  expect(asReply(reply).usage.usage).toEqual({
    uncachedTokens: 10,
    cacheReadTokens: 40,
    cacheWriteTokens: {},
    outputTokens: 3,
    reasoningTokens: 7,
  });
});

test("a stream that is cut gives what arrived, and one without a beginning a failure", () => {
  expect(readStream([eventWith(['{"text":"a"}'])]).reply).toMatchObject({
    kind: "reply",
    status: "partial",
    stopReason: "unknown",
    message: { content: [{ type: "text", text: "a" }] },
  });
  expect(readStream([]).reply).toEqual({
    kind: "malformed",
    detail: "the stream ended before a reply began",
  });
});

function error(code: number, status: string): string {
  return JSON.stringify({ error: { code, message: `It is ${code}.`, status } });
}

test("a failure in the middle is that of the reply, and the first one stays", () => {
  const { reply } = readStream([
    eventWith(['{"text":"a"}']),
    error(503, "UNAVAILABLE"),
    `[${error(500, "INTERNAL")}]`,
  ]);
  expect(reply).toMatchObject({
    status: "partial",
    failure: { kind: "overloaded", detail: "It is 503." },
    message: { content: [{ type: "text", text: "a" }] },
  });
  expect(readStream([error(429, "RESOURCE_EXHAUSTED")]).reply).toMatchObject({
    kind: "rate-limited",
  });
});

test("what cannot be read is counted, and ends nothing", () => {
  const { reply } = readStream(["no json", eventWith(['{"text":"a"}', "7"]), answerWith([])]);
  expect(asReply(reply).message.content).toEqual([{ type: "text", text: "a" }]);
  expect(asReply(reply).usage.warnings).toContain("events and parts that could not be read: 2");
});

test("bytes may be split anywhere", () => {
  const events = [
    eventWith(['{"text":"Grüße 🙂 "}']),
    eventWith([call]),
    answerWith(['{"text":"x"}']),
  ];
  const bytes = new TextEncoder().encode(events.map((data) => `data: ${data}\r\n\r\n`).join(""));
  const whole = readStream(events).reply;
  for (let at = 1; at < bytes.length; at += 1) {
    const seen: string[] = [];
    const parser = createParser({ onEvent: ({ data }) => void seen.push(data) });
    const decoder = new TextDecoder();
    for (const half of [bytes.subarray(0, at), bytes.subarray(at)]) {
      parser.feed(decoder.decode(half, { stream: true }));
    }
    expect(readStream(seen).reply).toEqual(whole);
  }
});

test("an event costs the same at the end of a long reply as at its beginning", () => {
  const { stream } = gemini;
  let state = stream.start;
  const event = { event: undefined, data: eventWith(['{"text":"word "}']) };
  for (let count = 0; count < 50_000; count += 1) [state] = stream.step(state, event);
  expect(asReply(stream.finish(state)).message.content).toEqual([
    { type: "text", text: "word ".repeat(50_000) },
  ]);
});
