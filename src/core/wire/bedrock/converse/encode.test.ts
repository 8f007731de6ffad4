import { describe, expect, test } from "vitest";
import {
  bodyOn,
  encodeOn,
  haiku,
  planOf,
  say,
  sonnet,
  toolUse,
  type Encoding,
} from "../test-kit.ts";
import { bedrockConverse } from "./index.ts";

const read = { name: "Read", description: "Reads.", inputSchemaJson: '{"type":"object"}' };
const limit = '"inferenceConfig":{"maxTokens":100}';

function body(encoding: Encoding): string {
  return bodyOn(bedrockConverse, encoding);
}

function notes(encoding: Encoding): readonly string[] {
  return encodeOn(bedrockConverse, encoding).notes.map(({ detail }) => detail);
}

test("a request is tools, system text and messages, then what limits the reply", () => {
  const history = [
    say("user", "Look."),
    say("assistant", "I will.", toolUse("t1", '{"10":1.0,"2":1e3}')),
    say("tool", { type: "tool_result", toolUseId: "t1", content: [], isError: true }),
  ];
  expect(body({ tools: [read], system: ["Be brief."], history })).toBe(
    '{"toolConfig":{"tools":[{"toolSpec":{"name":"Read","description":"Reads.","inputSchema":{"json":{"type":"object"}}}}]},' +
      '"system":[{"text":"Be brief."}],"messages":[{"role":"user","content":[{"text":"Look."}]},' +
      '{"role":"assistant","content":[{"text":"I will."},{"toolUse":{"toolUseId":"t1","name":"Read","input":{"10":1.0,"2":1e3}}}]},' +
      '{"role":"user","content":[{"toolResult":{"toolUseId":"t1","content":[],"status":"error"}},{"text":"Hi."}]}],' +
      `${limit}}`,
  );
});

test("a cache point is a block of its own after the one that it ends, in every list", () => {
  const plan = planOf({ 0: "1h", 1: "1h", 2: "5m", 3: "5m" });
  const encoding = { tools: [read], system: ["Be brief."], history: [say("user", "Look.")] };
  const marked = body({ ...encoding, plan });
  const long = ',{"cachePoint":{"type":"default","ttl":"1h"}}';
  const short = ',{"cachePoint":{"type":"default"}}';
  expect(marked).toContain(`{"json":{"type":"object"}}}}${long}]}`);
  expect(marked).toContain(`"system":[{"text":"Be brief."}${long}]`);
  expect(marked).toContain(`"content":[{"text":"Look."}${short},{"text":"Hi."}${short}]}]`);
  expect(marked.replaceAll(long, "").replaceAll(short, "")).toBe(body(encoding));
});

test("the path holds the model, percent-encoded, and says whether the reply is streamed", () => {
  expect(encodeOn(bedrockConverse, {}).path).toBe(
    "/model/global.anthropic.claude-haiku-4-5-20251001-v1%3A0/converse",
  );
  const arn = "arn:aws:bedrock:eu-west-1:1:application-inference-profile/a(b)";
  const options = { stream: true, modelName: arn };
  const streamed = encodeOn(bedrockConverse, { options });
  expect(streamed.path).toBe(
    "/model/arn%3Aaws%3Abedrock%3Aeu-west-1%3A1%3Aapplication-inference-profile%2Fa%28b%29/converse-stream",
  );
  expect(streamed.headers).toEqual({ accept: "application/vnd.amazon.eventstream" });
});

describe("an option", () => {
  test.each<[string, NonNullable<Encoding["options"]>, string]>([
    ["temperature", { temperature: 0.5 }, '"inferenceConfig":{"maxTokens":100,"temperature":0.5}'],
    [
      "stop words",
      { stopSequences: ["x"] },
      '"inferenceConfig":{"maxTokens":100,"stopSequences":["x"]}',
    ],
    ["effort", { effort: "low" }, `${limit},"outputConfig":{"effort":"low"}`],
    [
      "a schema, as a text",
      { outputSchemaJson: '{"type":"object"}' },
      `${limit},"outputConfig":{"textFormat":{"type":"json_schema","structure":{"jsonSchema":{"schema":"{\\"type\\":\\"object\\"}","name":"reply"}}}}`,
    ],
    [
      "thinking and betas of the model's own API",
      { thinkingJson: '{"type":"enabled","budget_tokens":2000}', betas: ["one", "two"] },
      `${limit},"additionalModelRequestFields":{"thinking":{"type":"enabled","budget_tokens":2000},"anthropic_beta":["one","two"]}`,
    ],
    [
      "further members, which are added to ours",
      {
        betas: ["one"],
        extraJson: {
          inferenceConfig: '{"topP":0.9}',
          additionalModelRequestFields: '{"top_k":5}',
          requestMetadata: '{"a":"b"}',
        },
      },
      '"inferenceConfig":{"maxTokens":100,"topP":0.9},"additionalModelRequestFields":{"anthropic_beta":["one"],"top_k":5},"requestMetadata":{"a":"b"}',
    ],
  ])("is written: %s", (_name, options, expected) => {
    expect(body({ options })).toBe(
      `{"messages":[{"role":"user","content":[{"text":"Hi."}]}],${expected}}`,
    );
  });

  test.each<[string, NonNullable<Encoding["options"]>, string]>([
    ["auto", { toolChoice: "auto" }, ',"toolChoice":{"auto":{}}}'],
    ["any", { toolChoice: "any" }, ',"toolChoice":{"any":{}}}'],
    ["one tool", { toolChoice: { name: "Read" } }, ',"toolChoice":{"tool":{"name":"Read"}}}'],
    ["none, by the model's own API", { toolChoice: "none" }, '"tool_choice":{"type":"none"}'],
    [
      "one at a time, by the model's own API",
      { toolChoice: { name: "Read" }, parallelToolUse: false },
      '"tool_choice":{"type":"tool","name":"Read","disable_parallel_tool_use":true}',
    ],
  ])("chooses tools: %s", (_name, options, expected) => {
    const written = body({ tools: [read], options });
    expect(written).toContain(expected);
    expect(written.includes("toolChoice")).toBe(!expected.includes("tool_choice"));
  });

  test("is noted if the model does not take it", () => {
    const options = { temperature: 1, toolChoice: "any" } as const;
    expect(notes({ model: sonnet, tools: [read], options })).toEqual([
      "temperature: the model takes no sampling controls",
      "tool choice: the model cannot be made to call a tool",
    ]);
    expect(notes({ options: { extraJson: { messages: "[]" } } })).toEqual([
      "messages: written from the call itself",
    ]);
    expect(notes({ plan: planOf({}, { requestMarker: "5m" }) })).toEqual([
      "the marker for the whole request left out: the model takes none",
    ]);
  });
});

test("the body as an object is the same body", () => {
  const encoding = { tools: [read], system: ["Be brief."], model: haiku };
  const object = encodeOn(bedrockConverse, encoding).toObject();
  expect(JSON.stringify(object)).toBe(body(encoding));
});

test("a count asks for the prompt of the same request", () => {
  const request = encodeOn(bedrockConverse, { system: ["Be brief."], options: { effort: "low" } });
  const counting = bedrockConverse.counting?.encode(request);
  expect(counting?.path).toBe(
    "/model/global.anthropic.claude-haiku-4-5-20251001-v1%3A0/count-tokens",
  );
  expect(counting?.toObject()).toEqual({
    input: {
      converse: {
        system: [{ text: "Be brief." }],
        messages: [{ role: "user", content: [{ text: "Hi." }] }],
      },
    },
  });
  expect(bedrockConverse.counting?.decode('{"inputTokens":12}')).toBe(12);
  expect(bedrockConverse.counting?.decode('{"inputTokens":0}')).toBe(null);
});
