// Goal: a request in two segments goes out as seed 000 says. Method: bodies written out.
import { describe, expect, test } from "vitest";
import { assembleRequest } from "../../src/core/assembly/canonical.ts";
import { findPolicy } from "../../src/core/cache/policies.ts";
import { createRequest, type CanonicalRequest } from "../../src/core/message/canonical-request.ts";
import { deepFreeze } from "../../src/core/models/catalogue.ts";
import {
  claude,
  counterOf,
  encode,
  large,
  longText,
  say,
  toolResult,
  type Sent,
} from "./test-kit.ts";

const fiveMinutes = { type: "ephemeral" };

describe("the two-segment request on metis", () => {
  const stable = { type: "text", text: longText, cache_control: fiveMinutes };

  test("has no system prompt where both segments are empty (M-14)", () => {
    expect(newFoundation({ systemPrompt: null, systemPromptVolatile: "  \n" }).body).toEqual({
      model: "claude-sonnet-4-6",
      max_tokens: 1000,
      messages: [{ role: "user", content: [{ type: "text", text: "Hello." }] }],
    });
  });

  test("has one marked block where there is stable text only (M-11, M-14)", () => {
    expect(newFoundation({ systemPrompt: longText }).body["system"]).toEqual([stable]);
  });

  test("has two blocks, the first one marked, where there are both (M-14)", () => {
    const { body } = newFoundation({
      systemPrompt: longText,
      systemPromptVolatile: "Notes: short.",
    });
    expect(body["system"]).toEqual([stable, { type: "text", text: "Notes: short." }]);
  });

  test("has one block without a marker where there is volatile text only (M-14)", () => {
    const { body } = newFoundation({ systemPromptVolatile: longText });
    expect(body["system"]).toEqual([{ type: "text", text: longText }]);
  });

  test("merges tool messages that follow each other into one of the user (M-14)", () => {
    const { body } = newFoundation({
      messages: [...large.history.slice(0, 2), toolResult("t1", "one"), toolResult("t2", "two")],
      tools: large.tools,
    });
    expect(body["messages"]).toEqual([
      { role: "user", content: [{ type: "text", text: "Which tests fail?" }] },
      {
        role: "assistant",
        content: [
          { type: "text", text: "I will look." },
          { type: "tool_use", id: "t1", name: "bash", input: { command: "npm test" } },
          { type: "tool_use", id: "t2", name: "read_file", input: { path: "log.txt" } },
        ],
      },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "t1", content: [{ type: "text", text: "one" }] },
          {
            type: "tool_result",
            tool_use_id: "t2",
            content: [{ type: "text", text: "two" }],
            cache_control: fiveMinutes,
          },
        ],
      },
    ]);
  });

  test("hoists a system message of the list into the system prompt, after a blank line (M-14)", () => {
    const { body } = newFoundation({
      systemPrompt: "Be brief.",
      messages: [say("system", "Answer in French."), say("user", "Hello.")],
    });
    expect(body).toEqual({
      model: "claude-sonnet-4-6",
      max_tokens: 1000,
      system: [{ type: "text", text: "Be brief.\n\nAnswer in French." }],
      messages: [{ role: "user", content: [{ type: "text", text: "Hello." }] }],
    });
  });
});

function newFoundation(parts: Partial<CanonicalRequest>): Sent {
  const { protocol, model } = claude;
  const request = deepFreeze(
    createRequest({
      requestId: "01KA5R8K2M0000000000000000",
      model: "anthropic:claude-sonnet-4-6",
      messages: [say("user", "Hello.")],
      maxOutputTokens: 1000,
      ...parts,
    }),
  );
  const assembly = assembleRequest(request, {
    layout: findPolicy("metis").layout,
    spelling: protocol.spelling(model),
    counter: counterOf(model),
    model,
  });
  return encode("metis", assembly);
}
