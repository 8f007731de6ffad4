import { describe, expect, test } from "vitest";
import { bodyText, type EncodedRequest } from "../../encoded-request.ts";
import {
  asReply,
  assemblyOf,
  plainOptions,
  planOf,
  readTool,
  say,
  sol,
  type OpenaiSetting,
} from "../test-kit.ts";
import { openaiChat } from "../chat/index.ts";
import type { CallOptions, Protocol } from "../../protocol.ts";
import { compaction } from "./compaction.ts";
import { openaiResponses } from "./index.ts";

const protocol = openaiResponses;

function encode(
  setting: Partial<OpenaiSetting>,
  options: Partial<CallOptions> = {},
): EncodedRequest {
  return compaction.encode({
    assembly: assemblyOf({ protocol, ...setting }),
    plan: { ...planOf({ 0: "12h" }), cacheKey: "k" },
    model: sol,
    options: { ...plainOptions, ...options },
  });
}

const said =
  '{"id":"msg_1", "type":"message","status":"completed","role":"user","content":[{"type":"input_text","text":"Hi."},{"type":"input_text","text":"You."}]}';
const sealed = '{"id":"cmp_1","type":"compaction","encrypted_content":"c2VhbGVk","n":1.0}';

function bodyWith(output: string): string {
  return `{"id":"resp_1","object":"response.compaction","output":${output},"usage":{"input_tokens":30,"input_tokens_details":{"cached_tokens":20},"output_tokens":5}}`;
}

/** The body of a call on what was compacted. */
function inputOf(other: Protocol): string {
  const reply = asReply(compaction.decode(bodyWith(`[${said},${sealed}]`)));
  const history = compaction.messagesIn(reply);
  const assembly = assemblyOf({ protocol: other, history });
  const call = { assembly, plan: planOf(), model: sol, options: plainOptions };
  return bodyText(other.encode(call).pieces);
}

describe("a request to the compact endpoint", () => {
  test("has only the members the endpoint takes", () => {
    const options = { temperature: 1, extraJson: { service_tier: '"flex"', metadata: "{}" } };
    const { pieces, notes } = encode({ system: ["Rules."] }, options);
    expect(bodyText(pieces)).toBe(
      '{"model":"gpt-6.1-sol","input":[' +
        '{"type":"message","role":"developer","content":[{"type":"input_text","text":"Rules.","prompt_cache_breakpoint":{"mode":"explicit"}}]},' +
        '{"type":"message","role":"user","content":[{"type":"input_text","text":"Hi."}]}]' +
        ',"prompt_cache_key":"k","service_tier":"flex"}',
    );
    expect(notes.map(({ detail }) => detail)).toEqual([
      "a lifetime of 12h: this protocol offers 30m",
    ]);
  });

  test.each<[string, Partial<OpenaiSetting>, Partial<CallOptions>, boolean]>([
    ["nothing else", {}, {}, true],
    ["tools", { tools: [readTool] }, {}, false],
    ["an effort", {}, { effort: "high" }, false],
    ["an effort in other words", {}, { extraJson: { reasoning: "{}" } }, false],
    ["a schema", {}, { outputSchemaJson: "{}" }, false],
    ["single tool calls", {}, { parallelToolUse: false }, false],
  ])("of a session with %s begins as its calls do: %s", (_what, setting, options, isSame) => {
    const assembly = assemblyOf({ protocol, ...setting });
    const call = { assembly, options: { ...plainOptions, ...options } };
    expect(compaction.keepsPrefix(call)).toBe(isSame);
  });
});

describe("its answer", () => {
  test("is taken apart into messages, each item verbatim", () => {
    const reply = asReply(compaction.decode(bodyWith(`[${said},${sealed}]`)));
    expect(reply.stopReason).toBe("compaction");
    expect(reply.usage.usage).toMatchObject({
      uncachedTokens: 10,
      cacheReadTokens: 20,
      outputTokens: 5,
    });
    expect(compaction.messagesIn(reply)).toEqual([
      say("user", { type: "opaque", json: said }, "Hi.\nYou."),
      say("assistant", { type: "opaque", json: sealed }),
    ]);
  });

  test("without a compaction holds none", () => {
    const reply = asReply(compaction.decode(bodyWith(`[${said}]`)));
    expect([reply.stopReason, compaction.messagesIn(reply)]).toEqual(["unknown", []]);
  });

  test.each([
    ["Bad gateway", "the answer is not a JSON object"],
    ["{}", "the answer has no output"],
  ])("that is none is malformed: %s", (body, detail) => {
    expect(compaction.decode(body)).toEqual({ kind: "malformed", detail });
  });

  test("that contains an error is that error", () => {
    const body = '{"error":{"message":"No.","type":"server_error","code":"server_error"}}';
    expect(compaction.decode(body)).toMatchObject({ kind: "server-error", detail: "No." });
  });

  test("is the next input as it came", () => {
    expect(inputOf(openaiResponses)).toContain(
      `"input":[${said},${sealed},{"type":"message","role":"user","content":[{"type":"input_text","text":"Hi."}]}]`,
    );
  });

  test("gives another protocol the user's words", () => {
    expect(inputOf(openaiChat)).toContain('{"type":"text","text":"Hi.\\nYou."}');
  });
});
