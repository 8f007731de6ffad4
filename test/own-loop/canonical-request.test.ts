// Goal: a canonical request acts, and a prepared call can be had as one. Method: bodies are compared with what the request says.
import { describe, expect, test } from "vitest";
import {
  createRequest,
  encodeCanonicalRequest,
  findPolicy,
  toToolDefinition,
  type CanonicalRequest,
  type Reply,
} from "../../src/core-index.ts";
import { openWorld } from "./test-kit.ts";

const nowMs = Date.UTC(2026, 10, 18);

const asked = createRequest({
  requestId: "01KA5R8K2M0000000000000000",
  model: "anthropic:claude-haiku-4-5",
  messages: [
    { role: "user", content: [{ type: "text", text: "Look." }] },
    {
      role: "assistant",
      content: [{ type: "tool_use", id: "tu_1", name: "look", inputJson: '{"path":"a"}' }],
    },
    {
      role: "tool",
      content: [
        {
          type: "tool_result",
          toolUseId: "tu_1",
          content: [{ type: "text", text: "red" }],
          isError: false,
        },
      ],
    },
  ],
  tools: [
    toToolDefinition({ name: "look", description: "Looks.", inputSchema: { type: "object" } }),
  ],
  systemPrompt: "Be brief.",
  systemPromptVolatile: "It is noon.",
  maxOutputTokens: 321,
  stopSequences: ["END"],
  temperature: 0.25,
  outputSchemaJson: '{"type":"object","properties":{},"additionalProperties":false}',
  stream: true,
  toolIdMap: { tu_1: "toolu_01" },
});

const metis = findPolicy("metis");

function bodyOf(request: CanonicalRequest): unknown {
  return encodeCanonicalRequest(request, { nowMs, policy: metis }).request.toObject();
}

describe("a canonical request (M-01, M-02)", () => {
  test("is sent with its two texts, limits, temperature, stop words, schema and the provider's tool ids", () => {
    expect(bodyOf(asked)).toMatchObject({
      model: "claude-haiku-4-5",
      max_tokens: 321,
      stream: true,
      temperature: 0.25,
      stop_sequences: ["END"],
      output_config: { format: { type: "json_schema", schema: { type: "object" } } },
      system: [{ text: "Be brief." }, { text: "It is noon." }],
      messages: [
        { role: "user" },
        { role: "assistant", content: [{ type: "tool_use", id: "toolu_01" }] },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_01" }] },
      ],
    });
    expect(bodyOf({ ...asked, model: "openai:gpt-5.5" })).toMatchObject({
      model: "gpt-5.5",
      max_output_tokens: 321,
      stream: true,
    });
  });

  test("has its own tool ids in the reply, whatever the provider calls them", () => {
    const { toOurIds, requestId, stream } = encodeCanonicalRequest(asked, { nowMs });
    const use = { type: "tool_use" as const, id: "toolu_01", name: "look", inputJson: "{}" };
    const reply = { message: { role: "assistant", content: [use] } } as unknown as Reply;
    expect(toOurIds(reply).message.content).toEqual([{ ...use, id: "tu_1" }]);
    expect({ requestId, stream }).toEqual({
      requestId: "01KA5R8K2M0000000000000000",
      stream: true,
    });
  });

  test("is refused without an id, with one id for two tool uses, and for an unknown model", () => {
    expect(() => bodyOf({ ...asked, requestId: " " })).toThrow("the request has no id");
    expect(() => bodyOf({ ...asked, toolIdMap: { a: "x", b: "x" } })).toThrow(
      "toolIdMap gives two tool uses the same id",
    );
    expect(() => bodyOf({ ...asked, model: "anthropic:claude-9" })).toThrow("claude-9");
  });
});

test.each(["adaptive", "hermes", "metis"] as const)(
  "under %s a prepared call is a canonical request with its volatile text, and that is encoded as the call itself (M-01)",
  async (policy) => {
    const { engine } = await openWorld({ config: { policy } });
    const session = await engine.open({ id: "s" });
    const said = { content: "Why is CI red?", source: "human", platform: "slack" };
    const call = await session.prepare(said, { id: "t" });
    const request = call.toCanonicalRequest();
    expect(request).toMatchObject({
      requestId: "t/1",
      model: "anthropic:claude-sonnet-4-6",
      maxOutputTokens: 500,
      systemPromptVolatile: expect.stringContaining("Platform: slack"),
      tools: [{ name: "look" }],
    });
    const again = encodeCanonicalRequest(request, { nowMs, policy: findPolicy(policy) });
    expect(again.request.toObject()).toEqual(call.toObject());
  },
);

test("volatile text that is part of a message is in the canonical request once", async () => {
  const { engine } = await openWorld({ config: { policy: "nexus" } });
  const session = await engine.open({ id: "s" });
  const said = { content: "Why is CI red?", source: "human", platform: "slack" };
  const request = (await session.prepare(said)).toCanonicalRequest();
  expect(request.systemPromptVolatile).toBe(null);
  expect(JSON.stringify(request.messages)).toContain("Platform: slack");
});
