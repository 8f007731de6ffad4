// What an observer learns of answers as they pass: whole, streamed, compressed, cut anywhere, and hostile.
import {
  brotliCompressSync,
  deflateRawSync,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from "node:zlib";
import { describe, expect, test } from "vitest";
import { anthropicMessages } from "../../core/wire/anthropic-messages/index.ts";
import { createTellingReader } from "./telling-events.ts";
import { dataOf, saidInStream, saidWhole, startWatching, streamOf } from "./test-kit.ts";

const body = {
  model: "claude-sonnet-4-6",
  max_tokens: 9,
  messages: [{ role: "user", content: "Hi." }],
};
const usage = { input_tokens: 12, cache_read_input_tokens: 3000, output_tokens: 50 };
const stream = saidInStream(
  ['It says "usage" and "error".', "event: error", "data: {}\n\n"],
  usage,
);
const seen = { uncachedTokens: 12, cacheReadTokens: 3000, outputTokens: 50 };

describe("a streamed answer", () => {
  test.each([1, 2, 3, 7, 64, 1000])(
    "says the same however its bytes are split: by %i",
    (pieceBytes) => {
      const { pass } = startWatching();
      const call = pass({ body, ...stream, pieceBytes });
      expect(call).toMatchObject({
        status: "complete",
        stopReason: "end_turn",
        replyId: "msg_1",
        usage: seen,
        notes: [],
      });
    },
  );

  test.each([
    ["\r\n", "\r\n"],
    ["\r", "\r"],
  ])("may end its lines with %j", (end) => {
    const { pass } = startWatching();
    const answer = String(stream.answer).replaceAll("\n", end);
    for (const pieceBytes of [1, 5, 10_000]) {
      expect(pass({ body, ...stream, answer, pieceBytes })?.usage).toMatchObject(seen);
    }
  });

  test("may begin with comments and pings", () => {
    const { pass } = startWatching();
    const answer = `: keep alive\n\nevent: ping\ndata: {"type":"ping"}\n\n${String(stream.answer)}`;
    expect(pass({ body, ...stream, answer, pieceBytes: 9 })).toMatchObject({
      status: "complete",
      usage: seen,
    });
  });

  test("that reports a failure in its middle is partial, with the provider's words", () => {
    const { pass } = startWatching();
    const call = pass({
      body,
      ...streamOf([
        {
          type: "message_start",
          message: { id: "m", usage: { input_tokens: 5, output_tokens: 1 } },
        },
        { type: "error", error: { type: "overloaded_error", message: "Overloaded" } },
      ]),
    });
    expect(call).toMatchObject({
      status: "partial",
      failure: { kind: "overloaded", detail: "Overloaded" },
      usage: { uncachedTokens: 5 },
    });
  });

  test("of Chat Completions tells its usage in the last chunk, or nothing at all", () => {
    const { pass } = startWatching();
    const chat = {
      path: "/v1/chat/completions",
      upstream: "openai",
      body: { model: "gpt-5.5", messages: [{ role: "user", content: "Hi." }] },
    };
    const chunks = [
      delta(""),
      ...Array.from({ length: 50 }, () => delta("word")),
      delta("", { finish_reason: "length" }),
    ];
    const told = pass({
      ...chat,
      ...dataOf([
        ...chunks,
        { id: "c", choices: [], usage: { prompt_tokens: 9, completion_tokens: 51 } },
        "[DONE]",
      ]),
    });
    const silent = pass({ ...chat, ...dataOf([...chunks, "[DONE]"]) });
    expect(told).toMatchObject({
      status: "complete",
      stopReason: "max_tokens",
      servedBy: "Host",
      usage: { uncachedTokens: 9, outputTokens: 51 },
      reportsCache: false,
      explanation: null,
    });
    expect(silent).toMatchObject({ status: "complete", usage: null, costPicoUsd: null });
  });

  test("with a tool call that ends with `stop` is known to have called a tool", () => {
    const { pass } = startWatching();
    const call = pass({
      path: "/v1/chat/completions",
      upstream: "openai",
      body: { model: "gpt-5.5", messages: [{ role: "user", content: "Hi." }] },
      ...dataOf([
        {
          id: "c",
          choices: [{ index: 0, delta: { role: "assistant", content: null }, finish_reason: null }],
        },
        {
          id: "c",
          choices: [
            {
              index: 0,
              delta: {
                tool_calls: [
                  {
                    index: 0,
                    id: "t",
                    type: "function",
                    function: { name: "Read", arguments: "" },
                  },
                ],
              },
              finish_reason: null,
            },
          ],
        },
        {
          id: "c",
          choices: [
            {
              index: 0,
              delta: { tool_calls: [{ index: 0, function: { arguments: "{}" } }] },
              finish_reason: null,
            },
          ],
        },
        { id: "c", choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
        "[DONE]",
      ]),
    });
    expect(call?.stopReason).toBe("tool_use");
  });

  test("is parsed only where it tells something", () => {
    const events: string[] = [];
    const { tellingEvents } = anthropicMessages;
    const reader = createTellingReader(tellingEvents ?? /x/, 10_000, () => {})(({ data }) => {
      events.push(String(JSON.parse(data).type));
    });
    reader.feed(
      Buffer.from(
        String(
          saidInStream(
            Array.from({ length: 500 }, () => "more"),
            usage,
          ).answer,
        ),
      ),
    );
    expect(events).toEqual(["message_start", "message_delta", "message_stop"]);
  });

  test("with one endless event is skipped there, and read again after it", () => {
    const { pass } = startWatching({ limits: { answerBytesMax: 2000 } });
    const [start = "", ...rest] = String(stream.answer).split("\n\n");
    const answer = [start, `data: {"type":"message_delta","x":"${"y".repeat(5000)}`, ...rest].join(
      "\n\n",
    );
    const call = pass({ body, ...stream, answer, pieceBytes: 100 });
    expect(call?.notes).toEqual(["an event is longer than 2000 bytes and was not read"]);
    expect(call?.usage).toMatchObject(seen);
  });
});

describe("a compressed answer", () => {
  test.each([
    ["gzip", gzipSync],
    ["deflate", deflateSync],
    ["deflate", deflateRawSync],
    ["br", brotliCompressSync],
    ["zstd", zstdCompressSync],
  ])("in %s is read from a copy, streamed and whole", async (coding, compress) => {
    const { pass, next } = startWatching();
    for (const said of [stream, saidWhole(usage)]) {
      const arrived = next();
      const type = said.answerHeaders?.["content-type"] ?? "application/json";
      pass({
        body,
        answerHeaders: { "content-type": type, "content-encoding": coding },
        answer: compress(Buffer.from(String(said.answer))),
        pieceBytes: 50,
      });
      expect(await arrived).toMatchObject({ status: "complete", usage: seen });
    }
  });

  test("that is cut gives what had arrived", async () => {
    const { pass, next } = startWatching();
    const arrived = next();
    const parts = [String(stream.answer), "event: ping\ndata: {}\n\n".repeat(2000)];
    const bytes = gzipSync(Buffer.from(parts.join("")), { level: 0 });
    const answerHeaders = { "content-type": "text/event-stream", "content-encoding": "gzip" };
    pass({ body, answerHeaders, answer: bytes.subarray(0, bytes.length - 20_000), how: "cut" });
    expect((await arrived).usage).toMatchObject(seen);
  });

  test("that unpacks without end is given up, and the call is still told", async () => {
    const { pass, next } = startWatching({ limits: { unpackedBytesMax: 100_000 } });
    const arrived = next();
    const answerHeaders = { "content-type": "text/event-stream", "content-encoding": "gzip" };
    pass({ body, answerHeaders, answer: gzipSync(Buffer.alloc(50_000_000)) });
    expect((await arrived).notes[0]).toBe("the answer is longer than 100000 bytes when unpacked");
  });

  test("that is garbage is told as such", async () => {
    const { pass, next } = startWatching();
    const arrived = next();
    pass({ body, answerHeaders: { "content-encoding": "br" }, answer: "no brotli at all" });
    expect((await arrived).notes[0]).toBe("the compressed answer could not be unpacked");
  });

  test("in an unknown coding is not read", () => {
    const { pass } = startWatching();
    const call = pass({ body, answerHeaders: { "content-encoding": "lz77" }, answer: "xx" });
    expect(call?.notes[0]).toBe("the answer's coding is not known: lz77");
  });
});

test("a compressed request is read from a copy, and a broken one is counted", () => {
  const { pass, observer } = startWatching();
  const headers = { "content-encoding": "zstd" };
  const call = pass({
    headers,
    body: zstdCompressSync(Buffer.from(JSON.stringify(body))),
    ...saidWhole(usage),
  });
  expect(call).toMatchObject({ model: "claude-sonnet-4-6", usage: seen });
  expect(pass({ headers, body: "no zstd" })).toBeUndefined();
  expect(pass({ body: '{"messages":[' })).toBeUndefined();
  expect(observer.state()).toMatchObject({ unreadBodies: 2, faults: 0 });
});

test("an error that repeats a key is told without it", () => {
  const { pass } = startWatching();
  const key = ["sk-ant-api03", "Zq8".repeat(20)].join("-");
  const answer = JSON.stringify({
    type: "error",
    error: { type: "authentication_error", message: `invalid x-api-key ${key}` },
  });
  const call = pass({ body, status: 401, answer });
  expect(call).toMatchObject({ status: "failed", failure: { kind: "authentication" } });
  expect(JSON.stringify(call?.failure)).not.toContain("Zq8Zq8");
});

test.each([
  ["no answer", "no answer", { status: "failed", failure: { kind: "unreachable" } }],
  ["a client that left first", "client left", { status: "failed", failure: { kind: "cancelled" } }],
  ["half a whole answer", "cut", { status: "failed", failure: { kind: "unreachable" } }],
] as const)("%s is a failed call without a cost", (_what, how, expected) => {
  const { pass } = startWatching();
  const answer = String(saidWhole(usage).answer).slice(0, 40);
  expect(pass({ body, how, answer })).toMatchObject({
    ...expected,
    usage: null,
    costPicoUsd: null,
  });
});

function delta(content: string, rest: object = {}): object {
  return {
    id: "c",
    provider: "Host",
    choices: [{ index: 0, delta: { content }, finish_reason: null, ...rest }],
    usage: null,
  };
}
