import { expect, test } from "vitest";
import type { Prompt } from "../prompt.ts";
import { createKit, said, tool, words, type Any } from "./test-kit.ts";

const hello = { messages: [said("hello")] };

test("a reply has its message, its stop reason, its usage and its latency", () => {
  const { status, headers, body } = createKit().converse(hello);
  expect(status).toBe(200);
  expect(headers["x-amzn-requestid"]).toMatch(/^[0-9a-f-]{36}$/);
  expect(body).toEqual({
    output: {
      message: {
        role: "assistant",
        content: [
          {
            reasoningContent: {
              reasoningText: {
                text: "They said: hello",
                signature: expect.stringMatching(/^sim1/),
              },
            },
          },
          { text: "hello" },
        ],
      },
    },
    stopReason: "end_turn",
    usage: {
      inputTokens: expect.any(Number),
      outputTokens: expect.any(Number),
      totalTokens: body.usage.inputTokens + body.usage.outputTokens,
      cacheReadInputTokens: 0,
      cacheWriteInputTokens: 0,
      cacheDetails: [],
    },
    metrics: { latencyMs: 0 },
  });
});

test("a stream has a start for tool uses only, and its usage after the stop", () => {
  const kit = createKit();
  kit.answer = () => ({
    parts: [
      { kind: "text", text: "I look." },
      { kind: "tool use", name: "read", inputJson: '{"10":1,"2":1.0}' },
    ],
    stop: "tool use",
  });
  const body = { ...hello, toolConfig: { tools: [tool("read")] } };
  const { headers, frames } = kit.post("converse-stream", body);
  expect(headers["content-type"]).toBe("application/vnd.amazon.eventstream");
  expect(frames.map((frame) => frame.headers[":event-type"])).toEqual([
    "messageStart",
    "contentBlockDelta",
    "contentBlockStop",
    "contentBlockStart",
    "contentBlockDelta",
    "contentBlockDelta",
    "contentBlockStop",
    "messageStop",
    "metadata",
  ]);
  expect(frames.map((frame) => frame.body)).toEqual([
    { role: "assistant" },
    { delta: { text: "I look." }, contentBlockIndex: 0 },
    { contentBlockIndex: 0 },
    {
      start: { toolUse: { toolUseId: expect.stringMatching(/^tooluse_/), name: "read" } },
      contentBlockIndex: 1,
    },
    { delta: { toolUse: { input: "" } }, contentBlockIndex: 1 },
    { delta: { toolUse: { input: '{"10":1,"2":1.0}' } }, contentBlockIndex: 1 },
    { contentBlockIndex: 1 },
    { stopReason: "tool_use" },
    {
      usage: expect.objectContaining({ cacheDetails: [] }),
      metrics: { latencyMs: 0 },
    },
  ]);
});

test("a whole reply keeps the spelling of a tool's input", () => {
  const kit = createKit();
  kit.answer = () => ({
    parts: [{ kind: "tool use", name: "read", inputJson: '{"10":1,"2":1.0}' }],
    stop: "tool use",
  });
  const { text } = kit.converse({ ...hello, toolConfig: { tools: [tool("read")] } });
  expect(text).toContain('"input":{"10":1,"2":1.0}}');
});

test("the model sees the conversation as its own API would show it", () => {
  const kit = createKit();
  kit.model = "anthropic.claude-sonnet-4-5-20250929-v1:0";
  kit.converse({
    system: [{ text: "Be brief." }, { guardContent: { text: { text: "Guarded." } } }],
    toolConfig: { tools: [tool("read")], toolChoice: { any: {} } },
    messages: [
      said("Read it.", {
        document: { format: "md", name: "notes", source: { bytes: base64("# Notes") } },
      }),
      {
        role: "assistant",
        content: [{ toolUse: { toolUseId: "t1", name: "read", input: { path: "a" } } }],
      },
      {
        role: "user",
        content: [
          {
            toolResult: {
              toolUseId: "t1",
              status: "error",
              content: [{ text: "none" }, { json: { code: 1.0 } }],
            },
          },
        ],
      },
    ],
  });
  const prompt = kit.prompts[0] as Prompt;
  expect(prompt).toMatchObject({
    system: "Be brief.\n\nGuarded.",
    toolChoice: "any",
    tools: [{ name: "read", description: "The tool read." }],
  });
  const [first, second, third] = prompt.turns;
  expect(first?.text).toBe("Read it.\n# Notes");
  expect(second?.toolUses).toEqual([{ id: "t1", name: "read", inputJson: '{"path":"a"}' }]);
  expect(third?.toolResults).toEqual([{ id: "t1", text: 'none\n{"code":1}', isError: true }]);
});

test("the fields of a model's own API are added, and its betas", () => {
  const kit = createKit();
  kit.model = "anthropic.claude-sonnet-4-5-20250929-v1:0";
  const thinking = { type: "enabled", budget_tokens: 2000 };
  const { body } = kit.converse({
    ...hello,
    additionalModelRequestFields: { thinking, anthropic_beta: ["interleaved-thinking-2025-05-14"] },
  });
  expect(Object.keys(body.output.message.content[0])).toEqual(["reasoningContent"]);
});

test("thinking is bound to what comes before it, as on the model's own API", () => {
  const kit = createKit();
  const first = kit.converse(hello).body.output.message;
  const next = said("And more.");
  const again = (begin: Any): Any => kit.converse({ messages: [begin, first, next] });
  expect(again(said("hello")).status).toBe(200);
  const changed = again(said("hallo"));
  expect(changed.status).toBe(400);
  expect(changed.body.message).toMatch(
    /^The model returned the following errors: messages\.1\.content\.0: Invalid `signature` in `thinking` block\./,
  );
});

test("stop sequences are named where the client asks for them", () => {
  const kit = createKit();
  kit.model = "anthropic.claude-sonnet-4-5-20250929-v1:0";
  const asked = { messages: [said("one two three")], inferenceConfig: { stopSequences: ["two"] } };
  const whole = kit.converse({ ...asked, additionalModelResponseFieldPaths: ["/stop_sequence"] });
  expect([whole.body.stopReason, whole.body.additionalModelResponseFields]).toEqual([
    "stop_sequence",
    { stop_sequence: "two" },
  ]);
  const paths = ["/delta/stop_sequence"];
  const { frames } = kit.post("converse-stream", {
    ...asked,
    additionalModelResponseFieldPaths: paths,
  });
  expect(frames.at(-2)?.body).toEqual({
    stopReason: "stop_sequence",
    additionalModelResponseFields: { delta: { stop_sequence: "two" } },
  });
});

test("a tier is repeated, and only the default has a price", () => {
  const kit = createKit();
  for (const type of ["default", "flex"]) {
    const { body } = kit.converse({ ...hello, serviceTier: { type } });
    expect(body.serviceTier).toEqual({ type });
  }
  expect(kit.records.map(({ costUsd }) => costUsd === null)).toEqual([false, true]);
});

test("a region costs what our facts say: a profile of the United States 10 % more", () => {
  const kit = createKit();
  const body = { messages: [said(words(2000))] };
  const costs = ["global.anthropic.claude-sonnet-5-5", "us.anthropic.claude-sonnet-5-5"].map(
    (model) => {
      kit.model = model;
      kit.converse(body);
      return Number(kit.records.at(-1)?.costUsd?.slice(1));
    },
  );
  expect((costs[1] ?? 0) / (costs[0] ?? 1)).toBeCloseTo(1.1, 5);
});

test("a prompt is counted by Converse's body and by the model's own as it is billed", () => {
  const kit = createKit();
  const system = words(300);
  const { usage } = kit.converse({ system: [{ text: system }], ...hello }).body;
  const converse = { system: [{ text: system }], ...hello };
  const own = {
    anthropic_version: "bedrock-2023-05-31",
    max_tokens: 10,
    system,
    messages: [{ role: "user", content: "hello" }],
  };
  const invokeModel = { body: base64(JSON.stringify(own)) };
  for (const input of [{ converse }, { invokeModel }])
    expect(kit.post("count-tokens", { input }).body).toEqual({ inputTokens: usage.inputTokens });
});

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}
