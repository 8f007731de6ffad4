import { describe, expect, test } from "vitest";
import { readRequest } from "../../foreign/read-request.ts";
import { markRequest } from "../../foreign/mark-request.ts";

const path = "/model/eu.anthropic.claude-haiku-4-5-20251001-v1%3A0/converse-stream";
const address = { path, headers: {} };
const point = { cachePoint: { type: "default" } };
const long = { cachePoint: { type: "default", ttl: "1h" } };

const body = {
  toolConfig: {
    tools: [
      {
        toolSpec: {
          name: "Read",
          inputSchema: { json: { type: "object" } },
          description: "Reads.",
        },
      },
      long,
    ],
    toolChoice: { any: {} },
  },
  system: [{ text: "Be brief." }, long],
  messages: [
    { role: "user", content: [{ text: "Look." }, point] },
    {
      role: "assistant",
      content: [
        { reasoningContent: { reasoningText: { text: "Hm.", signature: "s" } } },
        { toolUse: { toolUseId: "t1", name: "Read", input: { a: 1 } } },
      ],
    },
    {
      role: "user",
      content: [
        { toolResult: { toolUseId: "t1", content: [{ text: "A." }], status: "success" } },
        point,
      ],
    },
    { role: "system", content: [{ toolAddition: { tool: { name: "Write" } } }] },
  ],
  inferenceConfig: { maxTokens: 10 },
  additionalModelRequestFields: { thinking: { type: "enabled", budget_tokens: 1024 } },
  outputConfig: { effort: "low" },
};

describe("a Converse request of any client", () => {
  const request = readRequest(JSON.stringify(body), { address });

  test("is read block by block, and its path names the model", () => {
    expect([request.protocol, request.model, request.mode]).toEqual([
      "bedrock-converse",
      "eu.anthropic.claude-haiku-4-5-20251001-v1:0",
      "explicit",
    ]);
    expect(
      request.blocks.map(({ kind, role, tier, path: at, endsMessage, text }) => [
        kind,
        role,
        tier,
        at,
        endsMessage,
        text,
      ]),
    ).toEqual([
      [
        "tool definition",
        "tools",
        "T0",
        "toolConfig.tools.0",
        false,
        '{"description":"Reads.","inputSchema":{"json":{"type":"object"}},"name":"Read"}',
      ],
      ["system text", "system", "T1", "system.0", true, "Be brief."],
      ["text", "user", "T3", "messages.0.content.0", true, "Look."],
      [
        "thinking",
        "assistant",
        "T3",
        "messages.1.content.0",
        false,
        'reasoningContent {"reasoningText":{"text":"Hm.","signature":"s"}}',
      ],
      [
        "tool_use",
        "assistant",
        "T3",
        "messages.1.content.1",
        true,
        'toolUse {"input":{"a":1},"name":"Read","toolUseId":"t1"}',
      ],
      [
        "tool_result",
        "user",
        "T3",
        "messages.2.content.0",
        true,
        'toolResult {"content":[{"text":"A."}],"toolUseId":"t1"}',
      ],
      [
        "server tool block",
        "system",
        "T3",
        "messages.3.content.0",
        true,
        'toolAddition {"tool":{"name":"Write"}}',
      ],
    ]);
  });

  test("has its cache points as markers on the blocks before them", () => {
    expect(request.markers).toEqual([
      { block: 0, lifetime: "1h", path: "toolConfig.tools.1" },
      { block: 1, lifetime: "1h", path: "system.1" },
      { block: 2, lifetime: "5m", path: "messages.0.content.1" },
      { block: 5, lifetime: "5m", path: "messages.2.content.1" },
    ]);
    const stray = { ...body, messages: [{ role: "user", content: [point, { text: "A." }] }] };
    expect(readRequest(JSON.stringify(stray), { address }).strayMarkers).toEqual([
      { path: "messages.0.content.0", on: "other" },
    ]);
  });

  test("has the same content with and without them", () => {
    const bare = JSON.stringify(body, (key, value: unknown) =>
      Array.isArray(value) ? value.filter((item: object) => !("cachePoint" in item)) : value,
    );
    expect(readRequest(bare, { address }).blocks.map(({ key }) => key)).toEqual(
      request.blocks.map(({ key }) => key),
    );
  });

  test("has the settings on which its cache depends, its own and those of the model's API", () => {
    expect(request.settings).toEqual({
      "tool choice": "any",
      thinking: "1024 tokens",
      effort: "low",
    });
  });
});

test("a Converse body is recognised without its path by what only Converse has", () => {
  const messages = [{ role: "user", content: [{ text: "Hi." }] }];
  expect(recognise({ messages })).toBe("bedrock-converse");
  expect(recognise({ messages, system: [{ text: "Be brief." }] })).toBe("bedrock-converse");
  expect(readRequest(JSON.stringify({ modelId: "a.b", messages })).model).toBe("a.b");
  const typed = [{ role: "user", content: [{ type: "text", text: "Hi." }] }];
  expect(recognise({ messages: typed, system: [{ type: "text", text: "A." }] })).toBe(
    "anthropic-messages",
  );
});

test("another client's request is marked by cache points, and those that are there stay", () => {
  const text = "This is what you must know. ".repeat(2000);
  const given = {
    modelId: "global.anthropic.claude-haiku-4-5-20251001-v1:0",
    system: [{ text }],
    messages: [
      { role: "user", content: [{ text: "A." }, { text: "B." }] },
      { role: "assistant", content: [{ text: "C." }] },
      { role: "user", content: [{ text: "D." }] },
    ],
  };
  const { body: marked, plan } = markRequest(given);
  expect(plan.markers.length).toBeGreaterThan(1);
  const found = readRequest(JSON.stringify(marked)).markers;
  expect(found.map(({ block, lifetime }) => ({ block, lifetime }))).toEqual(
    plan.markers.map(({ block, lifetime }) => ({ block, lifetime })),
  );
  const bare = JSON.parse(
    JSON.stringify(marked, (_key, value: unknown) =>
      Array.isArray(value) ? value.filter((item: object) => !("cachePoint" in item)) : value,
    ),
  ) as unknown;
  expect(bare).toEqual(given);
});

function recognise(request: object): string {
  return readRequest(JSON.stringify(request)).protocol;
}
