import { describe, expect, test } from "vitest";
import { gemini } from "./index.ts";
import { answerWith, asReply, contentsOf, say } from "./test-kit.ts";

function contentOf(parts: readonly string[]) {
  return asReply(gemini.decode(answerWith(parts))).message.content;
}

/** The parts as they are sent back. */
function replayed(parts: readonly string[]): string {
  const history = [say("user", "Hi."), asReply(gemini.decode(answerWith(parts))).message];
  const { contents } = contentsOf({ history });
  return contents.slice(
    '{"role":"user","parts":[{"text":"Hi."}]},{"role":"model","parts":['.length,
    -2,
  );
}

describe("a whole answer", () => {
  test("is a reply with its model, its stop and its usage", () => {
    const usageMetadata = { promptTokenCount: 9, candidatesTokenCount: 2, totalTokenCount: 11 };
    expect(gemini.decode(answerWith(['{"text":"Hello."}'], { usageMetadata }))).toEqual({
      kind: "reply",
      id: "r1",
      model: "gemini-3.8-flash",
      message: { role: "assistant", content: [{ type: "text", text: "Hello." }] },
      stopReason: "end_turn",
      usage: {
        usage: {
          uncachedTokens: 9,
          cacheReadTokens: 0,
          cacheWriteTokens: {},
          outputTokens: 2,
          reasoningTokens: 0,
        },
        isReported: true,
        reportsCache: false,
        warnings: [],
      },
      status: "complete",
      transformations: [],
    });
  });

  test("keeps a part with more than its words beside its meaning", () => {
    expect(
      contentOf([
        '{"text":"I see.","thought":true}',
        '{"text":"Well,","thoughtSignature":"c2ln"}',
        '{"functionCall":{"name":"Read","args":{"10":1,"2":1.0},"id":"f1"}}',
        '{"text":"","thoughtSignature":"ZW5k"}',
        '{"executableCode":{"code":"1+1"}}',
      ]),
    ).toEqual([
      { type: "opaque", json: '{"type":"thinking_part","part":{"text":"I see.","thought":true}}' },
      {
        type: "opaque",
        json: '{"type":"thinking_part","part":{"text":"Well,","thoughtSignature":"c2ln"}}',
      },
      { type: "text", text: "Well," },
      { type: "tool_use", id: "f1", name: "Read", inputJson: '{"10":1,"2":1.0}' },
      {
        type: "opaque",
        json: '{"type":"thinking_part","part":{"text":"","thoughtSignature":"ZW5k"}}',
      },
      { type: "opaque", json: '{"type":"part","part":{"executableCode":{"code":"1+1"}}}' },
    ]);
  });

  test.each([
    ["text in two parts", ['{"text":"a"}', '{"text":"b"}']],
    [
      "a signature on the first of two calls",
      [
        '{"functionCall":{"name":"Read","args":{},"id":"a"},"thoughtSignature":"c2ln"}',
        '{"functionCall":{"name":"Read","args":{"x":1e400},"id":"b"}}',
      ],
    ],
    [
      "an empty part that only holds a signature",
      ['{"text":"Yes."}', '{"text":"","thoughtSignature":"c2ln"}'],
    ],
    [
      "a summary of thinking with a signature",
      ['{"text":"Hm.","thought":true,"thoughtSignature":"c2ln"}', '{"text":"Yes."}'],
    ],
    ["unknown members", ['{"text":"Yes.","partMetadata":{"b":1,"a":2.0}}', '{"newPart":{"10":1}}']],
    [
      "media and results of the provider's own tools",
      [
        '{"inlineData":{"mimeType":"image/png","data":"AA=="}}',
        '{"codeExecutionResult":{"outcome":"OUTCOME_OK","output":"2"}}',
      ],
    ],
  ])("goes back byte for byte: %s", (_, parts) => {
    expect(replayed(parts)).toBe(parts.join(","));
  });

  test("gives a call without an id one of ours, the same for the same reply and another for each call", () => {
    const call = '{"functionCall":{"name":"Read","args":{}},"thoughtSignature":"c2ln"}';
    const ids = contentOf([call, call]).flatMap((block) =>
      block.type === "tool_use" ? [block.id] : [],
    );
    expect(ids).toEqual(
      ["call_a", "call_b"].map(() => expect.stringMatching(/^call_[0-9a-f]{24}$/)),
    );
    expect(new Set(ids).size).toBe(2);
    const again = contentOf([call, call]);
    expect(again).toEqual(contentOf([call, call]));
    const other = asReply(gemini.decode(answerWith([call], { responseId: "r2" })));
    expect(other.message.content).not.toEqual(contentOf([call]));
    const nameless = [5, 6].map((promptTokenCount) => {
      const more = { responseId: undefined, usageMetadata: { promptTokenCount } };
      return asReply(gemini.decode(answerWith([call], more))).message.content;
    });
    expect(nameless[0]).not.toEqual(nameless[1]);
    expect(replayed([call])).toBe(call);
  });

  test("keeps arguments that are no object, and takes absent ones as none", () => {
    const inputs = contentOf([
      '{"functionCall":{"name":"a"}}',
      '{"functionCall":{"name":"b","args":null}}',
      '{"functionCall":{"name":"c","args":[1]}}',
    ]).flatMap((block) => (block.type === "tool_use" ? [block.inputJson] : []));
    expect(inputs).toEqual(["{}", "{}", '{"invalid_arguments":[1]}']);
  });

  test("keeps a piece of a call's arguments, which was not asked for, and calls nothing", () => {
    const piece =
      '{"functionCall":{"name":"a","partialArgs":[{"jsonPath":"$.x"}],"willContinue":true}}';
    const reply = asReply(gemini.decode(answerWith([piece])));
    expect(reply.message.content).toEqual([
      { type: "opaque", json: `{"type":"part","part":${piece}}` },
    ]);
    expect(reply.stopReason).toBe("end_turn");
  });

  test("may be a list of events, as a stream without alt=sse is", () => {
    const list = `[${answerWith(['{"text":"Yes"}']).replace('"finishReason":"STOP",', "")}\n,\r\n${answerWith(['{"text":"."}'])}]`;
    expect(asReply(gemini.decode(list)).message.content).toEqual([{ type: "text", text: "Yes." }]);
  });

  test("with several candidates is the first one", () => {
    const body = JSON.stringify({
      candidates: [
        { index: 1, content: { parts: [{ text: "No." }] }, finishReason: "STOP" },
        { index: 0, content: { parts: [{ text: "Yes." }] }, finishReason: "STOP" },
      ],
    });
    expect(asReply(gemini.decode(body)).message.content).toEqual([{ type: "text", text: "Yes." }]);
  });
});

describe("how a reply ended", () => {
  const call = '{"functionCall":{"name":"Read","args":{},"id":"a"}}';
  test.each([
    ["STOP", '{"text":"Yes."}', "end_turn"],
    ["STOP", call, "tool_use"],
    ["MAX_TOKENS", call, "max_tokens"],
    ["SAFETY", '{"text":"Y"}', "refusal"],
    ["RECITATION", '{"text":"Y"}', "refusal"],
    ["PROHIBITED_CONTENT", '{"text":"Y"}', "refusal"],
    ["IMAGE_SAFETY", '{"text":"Y"}', "refusal"],
    ["OTHER", '{"text":"Y"}', "unknown"],
    ["NO_IMAGE", '{"text":"Y"}', "unknown"],
    ["SOMETHING_NEW", '{"text":"Y"}', "unknown"],
  ])("%s with %s is %s", (reason, part, stop) => {
    const body = answerWith([part]).replace('"STOP"', JSON.stringify(reason));
    expect(gemini.decode(body)).toMatchObject({ stopReason: stop, status: "complete" });
  });

  test.each(["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS"])(
    "%s is a failure, and its bill is kept",
    (reason) => {
      const usageMetadata = { promptTokenCount: 9, thoughtsTokenCount: 3 };
      const body = answerWith([], { usageMetadata }).replace(
        '"STOP"',
        `"${reason}","finishMessage":"print(Read())"`,
      );
      expect(gemini.decode(body)).toMatchObject({
        kind: "reply",
        status: "partial",
        failure: { kind: "malformed", detail: `${reason}: print(Read())` },
        usage: { usage: { uncachedTokens: 9, reasoningTokens: 3 } },
      });
    },
  );

  test("a reply that could go on says so", () => {
    const reply = asReply(
      gemini.decode(answerWith(['{"text":"Y"}']).replace('"STOP"', '"CONTINUATION"')),
    );
    expect(reply.stopReason).toBe("unknown");
    expect(reply.usage.warnings).toContain(
      "the model stopped at a limit of the request and would go on if it were asked to",
    );
  });

  test("a blocked prompt is a refusal without words, and is billed", () => {
    const body =
      '{"promptFeedback":{"blockReason":"SAFETY"},"usageMetadata":{"promptTokenCount":7}}';
    const reply = asReply(gemini.decode(body));
    expect(reply).toMatchObject({
      stopReason: "refusal",
      status: "complete",
      message: { content: [] },
    });
    expect(reply.usage.usage.uncachedTokens).toBe(7);
    expect(reply.usage.warnings).toContain("the prompt was blocked: SAFETY");
  });
});

describe("what is no reply", () => {
  test.each([
    ["{}", "malformed", "the answer has no candidates: {}"],
    ["<html>", "malformed", "the answer has no candidates: <html>"],
    ["[]", "malformed", "the answer has no candidates: []"],
    ['{"error":{"code":503,"message":"Busy.","status":"UNAVAILABLE"}}', "overloaded", "Busy."],
    ['[{"error":{"code":500,"message":"Oh.","status":"INTERNAL"}}]', "server-error", "Oh."],
  ])("%s is %s", (body, kind, detail) => {
    expect(gemini.decode(body)).toMatchObject({ kind, detail });
  });
});
