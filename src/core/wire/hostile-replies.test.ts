// Goal: no reply and no request crashes its reader. Method: bodies and streams that follow a protocol in part, with
// hostile values at every place: the answer is a value, or a refusal with a hint, and what is counted can be billed.
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decodeBlock, decodeMessage } from "../message/decode-message.ts";
import { isCount } from "../message/fields.ts";
import { validateMessage, validateUsage } from "../message/validate-message.ts";
import { resolveModel } from "../models/resolve-model.ts";
import { StrataError } from "../strata-error.ts";
import { anthropicMessages } from "./anthropic-messages/index.ts";
import { bedrockConverse } from "./bedrock/converse/index.ts";
import { bedrockInvoke } from "./bedrock/invoke/index.ts";
import type { ProviderFailure } from "./failure.ts";
import { readRequest } from "./foreign/read-request.ts";
import { gemini } from "./gemini/index.ts";
import { openaiChat } from "./openai/chat/index.ts";
import { openaiResponses } from "./openai/responses/index.ts";
import { protocols } from "./protocols.ts";
import type { Protocol } from "./protocol.ts";
import type { Reply } from "./reply.ts";
import { vertexAnthropic } from "./vertex-anthropic/index.ts";
import { assemblyOn, plainOptions, planOf, say } from "./test-kit.ts";

/** Deeper than `JSON.stringify` can write. */
const deep = 12_000;

/** Values as JSON text: some have no other spelling. */
const hostile = [
  "-1",
  "0.5",
  "1e400",
  "-1e400",
  "9007199254740993",
  '"7"',
  '"NaN"',
  "null",
  "true",
  "[]",
  "{}",
  '""',
  '{"__proto__":{"polluted":true},"constructor":1,"toString":2}',
  '{"a":1,"a":2}',
  '"\\ud800"',
  '"\uDC00"',
  `${"[".repeat(deep)}${"]".repeat(deep)}`,
  `${'{"type":'.repeat(deep)}1${"}".repeat(deep)}`,
  `"${"x".repeat(5_000)}"`,
  "[null,1,{}]",
  '[{"type":"text"},{"type":"tool_use"},{"type":7},[]]',
] as const;

/** Names that decoders look for, and names that every object has. */
const names = [
  ..."type id model role content text thinking signature input name usage stop_reason message delta index".split(
    " ",
  ),
  ..."content_block partial_json citation error code status response item output_index output call_id".split(
    " ",
  ),
  ..."arguments summary encrypted_content choices finish_reason tool_calls function refusal custom".split(
    " ",
  ),
  ..."input_tokens output_tokens cache_read_input_tokens cache_creation_input_tokens cache_creation".split(
    " ",
  ),
  ..."iterations prompt_tokens completion_tokens prompt_tokens_details cached_tokens total_tokens".split(
    " ",
  ),
  ..."context_management applied_edits input_transformations diagnostics incomplete_details".split(
    " ",
  ),
  ..."candidates parts thought thoughtSignature functionCall args finishReason promptFeedback".split(
    " ",
  ),
  ..."blockReason usageMetadata promptTokenCount cachedContentTokenCount thoughtsTokenCount".split(
    " ",
  ),
  ..."candidatesTokenCount responseId details retryDelay willContinue totalTokens contents".split(
    " ",
  ),
  ..."messageStart contentBlockStart contentBlockDelta messageStop metadata contentBlockIndex start toolUse".split(
    " ",
  ),
  ..."toolUseId reasoningContent reasoningText redactedContent stopReason inputTokens outputTokens bytes".split(
    " ",
  ),
  ..."cacheReadInputTokens cacheWriteInputTokens cacheDetails ttl __type".split(" "),
  "__proto__",
  "constructor",
  "hasOwnProperty",
];

/** Words that decoders compare with. */
const words = [
  ..."message message_start content_block_start content_block_delta message_delta message_stop".split(
    " ",
  ),
  ..."error ping text text_delta thinking_delta input_json_delta citations_delta compaction_delta".split(
    " ",
  ),
  ..."signature_delta tool_use server_tool_use thinking compaction assistant user end_turn".split(
    " ",
  ),
  ..."response.created response.output_item.added response.output_item.done response.completed".split(
    " ",
  ),
  ..."response.output_text.delta response.function_call_arguments.delta response.failed".split(" "),
  ..."function_call reasoning output_text completed failed in_progress stop tool_calls".split(" "),
  ..."STOP MAX_TOKENS SAFETY MALFORMED_FUNCTION_CALL model thinking_part part".split(" "),
  ..."eyJ0eXBlIjoicGluZyJ9 1h malformed_tool_use guardrail_intervened".split(" "),
];

const scalar = fc.oneof(
  fc.constantFrom(...hostile),
  fc.constantFrom(...words).map((word) => JSON.stringify(word)),
  fc.nat(3).map(String),
);

const { json } = fc.letrec<{ json: string }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    scalar,
    fc
      .array(fc.tuple(fc.constantFrom(...names), tie("json")), { maxLength: 6 })
      .map((members) => `{${members.map(([name, value]) => `"${name}":${value}`).join(",")}}`),
    fc.array(tie("json"), { maxLength: 3 }).map((items) => `[${items.join(",")}]`),
  ),
}));

/** An event or body of a known type with hostile members. */
const typed = fc
  .tuple(
    fc.constantFrom(...words),
    fc.array(fc.tuple(fc.constantFrom(...names), json), { maxLength: 8 }),
  )
  .map(
    ([type, members]) =>
      `{"type":"${type}"${members.map(([name, value]) => `,"${name}":${value}`).join("")}}`,
  );

const body = fc.oneof(typed, json, fc.string());

function decodeAll({ stream }: Protocol, events: readonly string[]): Reply | ProviderFailure {
  let state = stream.start;
  for (const data of events) [state] = stream.step(state, { event: undefined, data });
  return stream.finish(state);
}

/** What is wrong with an outcome: nothing, whatever came. */
function problemsOf(outcome: Reply | ProviderFailure): readonly unknown[] {
  if (outcome.kind !== "reply") return typeof outcome.detail === "string" ? [] : [outcome];
  const misshapen = validateMessage(outcome.message).filter(({ rule }) => rule === "shape");
  return [...validateUsage(outcome.usage.usage), ...misshapen];
}

describe.each(protocols.map((protocol) => [protocol.name, protocol] as const))(
  "%s",
  (_name, protocol) => {
    test("any body is a reply or a failure", () => {
      fc.assert(
        fc.property(body, (text) => {
          expect(problemsOf(protocol.decode(text))).toEqual([]);
        }),
        { numRuns: 120 },
      );
    });

    test("any stream is a reply or a failure", () => {
      fc.assert(
        fc.property(fc.array(body, { maxLength: 8 }), (events) => {
          expect(problemsOf(decodeAll(protocol, events))).toEqual([]);
        }),
        { numRuns: 120 },
      );
    });

    test("any refusal is a failure", () => {
      const status = fc.constantFrom(200, 400, 401, 429, 500, 529, 599, 700);
      fc.assert(
        fc.property(status, body, (code, text) => {
          const headers = { "retry-after": text.slice(0, 20), "retry-after-ms": text.slice(0, 5) };
          const failure = protocol.readFailure({ status: code, headers, body: text, nowMs: 0 });
          expect(problemsOf(failure)).toEqual([]);
        }),
        { numRuns: 80 },
      );
    });

    test("any answer of a count is a count or none, and any compaction a reply or a failure", () => {
      fc.assert(
        fc.property(body, (text) => {
          const tokens = protocol.counting?.decode(text) ?? null;
          expect(tokens === null || isCount(tokens)).toBe(true);
          const { compaction } = protocol;
          const compacted = compaction?.decode(text);
          expect(compacted === undefined ? [] : problemsOf(compacted)).toEqual([]);
          if (compacted?.kind === "reply") compaction?.messagesIn(compacted);
        }),
        { numRuns: 80 },
      );
    });
  },
);

const [sonnet, sol] = [resolveModel("claude-sonnet-5-5").facts, resolveModel("gpt-6.1-sol").facts];
const flash = resolveModel("gemini-3.8-flash").facts;
const wires = [
  { protocol: anthropicMessages, model: sonnet },
  { protocol: openaiChat, model: sol },
  { protocol: openaiResponses, model: sol },
  { protocol: gemini, model: flash },
  { protocol: bedrockConverse, model: resolveModel("bedrock/claude-sonnet-5-5").facts },
  { protocol: bedrockInvoke, model: resolveModel("bedrock/claude-sonnet-5-5").facts },
  { protocol: vertexAnthropic, model: resolveModel("vertex/claude-sonnet-5-5").facts },
];

test("whatever a provider replied can be sent to every other", () => {
  const asked = say("user", "Hi.");
  fc.assert(
    fc.property(fc.constantFrom(...protocols), fc.array(body, { maxLength: 8 }), (from, events) => {
      const outcome = decodeAll(from, events);
      const history = outcome.kind === "reply" ? [asked, outcome.message] : [asked];
      for (const { protocol, model } of wires) {
        const assembly = assemblyOn({ protocol, model }, { history });
        const request = protocol.encode({ assembly, plan: planOf(), model, options: plainOptions });
        expect(() => request.toObject()).not.toThrow();
      }
    }),
    { numRuns: 60 },
  );
});

test("any request of another client is read, or refused with a code and a hint", () => {
  const request = fc
    .array(
      fc.tuple(fc.constantFrom("messages", "input", "contents", "system", "tools", ...names), json),
    )
    .map((members) => `{${members.map(([name, value]) => `"${name}":${value}`).join(",")}}`);
  fc.assert(
    fc.property(fc.oneof(request, body), (text) => {
      expect(hintOf(() => readRequest(text))).not.toBe("");
    }),
    { numRuns: 150 },
  );
});

test("any message is read, or refused with a code and a hint", () => {
  fc.assert(
    fc.property(body, (text) => {
      expect(hintOf(() => decodeMessage(text))).not.toBe("");
      expect(hintOf(() => decodeBlock(text))).not.toBe("");
    }),
    { numRuns: 150 },
  );
});

/** The hint of a refusal; null if there was none. Any other error goes on. */
function hintOf(work: () => unknown): string | null {
  try {
    work();
    return null;
  } catch (error) {
    if (error instanceof StrataError) return error.hint;
    throw error;
  }
}

test("no reply adds a member to every object", () => {
  expect("polluted" in {}).toBe(false);
});

test.each(protocols.map((protocol) => [protocol.name, protocol] as const))(
  "%s: an overflow by an impossible number has no number",
  (_name, protocol) => {
    const digits = "9".repeat(400);
    const message = `prompt is too long: ${digits} tokens > 7 maximum; exceeds the context window`;
    const text = JSON.stringify({ error: { type: "invalid_request_error", message } });
    const failure = protocol.readFailure({ status: 400, headers: {}, body: text, nowMs: 0 });
    expect(failure).toMatchObject({ kind: "context-overflow", tokens: undefined });
  },
);
