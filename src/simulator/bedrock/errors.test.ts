// Refusals of Bedrock: AWS checks a request first, then the model does.
import { expect, test } from "vitest";
import { jsonOf } from "../test-kit.ts";
import { createKit, point, point1h, said, tool, type Any } from "./test-kit.ts";

const hello = said("hello");
const use = { toolUse: { toolUseId: "t1", name: "read", input: {} } };
const toolConfig = { tools: [tool("read")] };

function result(toolUseId: string, extra: object = {}): Any {
  return { role: "user", content: [{ toolResult: { toolUseId, content: [], ...extra } }] };
}

function assistant(...content: readonly object[]): Any {
  return { role: "assistant", content };
}

/** A message for a validation exception; others are named. */
type Row = readonly [
  name: string,
  body: Any,
  message: string | RegExp,
  type?: string,
  status?: number,
];

const rows: readonly Row[] = [
  [
    "no messages",
    { messages: [] },
    "1 validation error detected: Value '[]' at 'messages' failed to satisfy constraint: Member must have length greater than or equal to 1",
  ],
  [
    "an unknown role",
    { messages: [{ role: "bot", content: [] }] },
    "1 validation error detected: Value 'bot' at 'messages.1.member.role' failed to satisfy constraint: Member must satisfy enum value set: [user, assistant, system]",
  ],
  [
    "a missing role",
    { messages: [{ content: [] }] },
    "1 validation error detected: Value null at 'messages.1.member.role' failed to satisfy constraint: Member must not be null",
  ],
  [
    "a message without content",
    { messages: [{ role: "user", content: [] }] },
    "The content field in the Message object at messages.0 is empty. Add a ContentBlock object to the content field and try again.",
  ],
  [
    "a blank text",
    { messages: [said(" ")] },
    "The text field in the ContentBlock object at messages.0.content.0 is blank. Add text to the text field, and try again.",
  ],
  [
    "a blank system text",
    { system: [{ text: "" }], messages: [hello] },
    "The text field in the SystemContentBlock object at system.0 is blank. Add text to the text field, and try again.",
  ],
  [
    "an unknown block",
    { messages: [{ role: "user", content: [{ song: {} }] }] },
    /^ContentBlock object at messages\.0\.content\.0 must set one of the following keys: text, image, toolUse, /,
  ],
  [
    "a block of two kinds",
    { messages: [{ role: "user", content: [{ text: "a", cachePoint: { type: "default" } }] }] },
    /sets text and cachePoint; set one/,
  ],
  [
    "text that is a number",
    { messages: [{ role: "user", content: [{ text: 5 }] }] },
    "NUMBER_VALUE can not be converted to String",
    "SerializationException",
  ],
  [
    "a body that is no JSON",
    "{",
    "The request body is not a JSON object",
    "SerializationException",
  ],
  [
    "an assistant at the start",
    { messages: [assistant({ text: "hi" })] },
    "A conversation must start with a user message. Try again with a conversation that starts with a user message.",
  ],
  [
    "two messages of one role",
    { messages: [hello, hello] },
    "A conversation must alternate between user and assistant roles. Make sure the conversation alternates between user and assistant roles and try again.",
  ],
  [
    "tools that are not defined",
    { messages: [hello, assistant(use), result("t1")] },
    "The toolConfig field must be defined when using toolUse and toolResult content blocks.",
  ],
  [
    "a use without its result",
    { toolConfig, messages: [hello, assistant(use), said("so?")] },
    "Expected toolResult blocks at messages.2.content for the following Ids: t1",
  ],
  [
    "a result without its use",
    { toolConfig, messages: [result("t9")] },
    "The number of toolResult blocks at messages.0.content exceeds the number of toolUse blocks of previous turn.",
  ],
  [
    "a failure without text",
    { toolConfig, messages: [hello, assistant(use), result("t1", { status: "error" })] },
    "The content field at messages.2.content.0.toolResult cannot be empty when status value is error.",
  ],
  [
    "an input that is text",
    { toolConfig, messages: [hello, assistant({ toolUse: { ...use.toolUse, input: "{}" } })] },
    "The format of the value at messages.1.content.0.toolUse.input is invalid. Provide a json object for the field and try again.",
  ],
  [
    "no tools",
    { toolConfig: { tools: [] }, messages: [hello] },
    "1 validation error detected: Value '[]' at 'toolConfig.tools' failed to satisfy constraint: Member must have length greater than or equal to 1",
  ],
  [
    "a tool with a bad name",
    { toolConfig: { tools: [tool("a b")] }, messages: [hello] },
    "1 validation error detected: Value 'a b' at 'toolConfig.tools.1.member.toolSpec.name' failed to satisfy constraint: Member must satisfy regular expression pattern: [a-zA-Z0-9_-]+",
  ],
  [
    "a schema that is no object's",
    {
      toolConfig: { tools: [{ toolSpec: { name: "a", inputSchema: { json: {} } } }] },
      messages: [hello],
    },
    "The value at toolConfig.tools.0.toolSpec.inputSchema.json.type must be one of the following: object.",
  ],
  [
    "a file name with a dot",
    { messages: [said("x", { document: { format: "md", name: "a.md", source: { text: "x" } } })] },
    /^The document file name can only contain alphanumeric characters/,
  ],
  [
    "a file on S3",
    {
      messages: [
        said("x", { image: { format: "png", source: { s3Location: { uri: "s3://a/b" } } } }),
      ],
    },
    "messages.0.content.1.image.source.type: Field required",
  ],
  [
    "too many tokens to generate",
    { messages: [hello], inferenceConfig: { maxTokens: 1_000_000 } },
    "The maximum tokens you requested exceeds the model limit of 128000. Try again with a maximum tokens value that is lower than 128000.",
  ],
  [
    "no tokens to generate",
    { messages: [hello], inferenceConfig: { maxTokens: 0 } },
    "1 validation error detected: Value '0' at 'inferenceConfig.maxTokens' failed to satisfy constraint: Member must have value greater than or equal to 1",
  ],
  [
    "what the model refuses",
    { messages: [hello], inferenceConfig: { temperature: 0.5 } },
    "The model returned the following errors: `temperature` is deprecated for this model.",
  ],
  [
    "a field that the model does not know",
    { messages: [hello], additionalModelRequestFields: { tempo: 1 } },
    "The model returned the following errors: tempo: Extra inputs are not permitted",
  ],
  [
    "a cache point after thinking",
    {
      messages: [
        hello,
        assistant({ reasoningContent: { reasoningText: { text: "a", signature: "b" } } }, point),
      ],
    },
    "Cache point cannot be inserted after reasoning block. Please remove the invalid cache point and try again.",
  ],
  [
    "a cache point after a document that is no PDF",
    {
      messages: [
        said("x", { document: { format: "md", name: "a", source: { text: "x" } } }, point),
      ],
    },
    "The model returned the following errors: messages.0.content.2.type: Field required",
  ],
  [
    "a cache point after nothing",
    { messages: [{ role: "user", content: [point, { text: "a" }] }] },
    /there is nothing before the cache point/,
  ],
  [
    "two cache points together",
    { messages: [said("x", point, point)] },
    /a cache point follows another one/,
  ],
  [
    "five cache points",
    {
      messages: [
        said(
          "a",
          point,
          { text: "b" },
          point,
          { text: "c" },
          point,
          { text: "d" },
          point,
          { text: "e" },
          point,
        ),
      ],
    },
    "The model returned the following errors: A maximum of 4 blocks with cache_control may be provided. Found 5.",
  ],
  [
    "an hour after five minutes",
    { messages: [said("a", point, { text: "b" }, point1h)] },
    /^The model returned the following errors: messages\.0\.content\.1\.cache_control\.ttl: a ttl='1h' cache_control block must not come after a ttl='5m'/,
  ],
  [
    "an unknown lifetime",
    { messages: [said("a", { cachePoint: { type: "default", ttl: "2h" } })] },
    /^1 validation error detected: Value '2h' at 'messages\.1\.member\.content\.2\.member\.cachePoint\.ttl'/,
  ],
  [
    "a system message, which models on Bedrock are not known to take",
    { messages: [hello, { role: "system", content: [{ text: "b" }] }] },
    "The model returned the following errors: role 'system' is not supported on this model",
  ],
  [
    "a video",
    { messages: [said("x", { video: { format: "mp4", source: { bytes: "AA==" } } })] },
    /doesn't support video content blocks/,
  ],
];

const exact = rows.filter(([, , message]) => typeof message === "string");
const partly = rows.filter(([, , message]) => typeof message !== "string");

test.each(exact)("refuses %s", (_name, body, message, type = "ValidationException") => {
  const answer = createKit().converse(body);
  expect(answer.status).toBe(400);
  expect(answer.headers["x-amzn-errortype"]).toBe(
    `${type}:http://internal.amazon.com/coral/com.amazon.bedrock/`,
  );
  expect(answer.body).toEqual({ message });
});

test.each(partly)("refuses %s", (_name, body, message) => {
  const answer = createKit().converse(body);
  expect(answer.status).toBe(400);
  expect(answer.body.message).toMatch(message);
});

test.each([
  ["claude-sonnet-5-5", "The provided model identifier is invalid."],
  ["bedrock/us.anthropic.claude-sonnet-5-5", "The provided model identifier is invalid."],
  ["anthropic.claude-sonnet-5.5", "The provided model identifier is invalid."],
  ["us.anthropic.claude-0", "The provided model identifier is invalid."],
  ["openai.gpt-5.4", "openai.gpt-5.4: not simulated"],
])("refuses the model id %s", (model, message) => {
  const kit = createKit();
  kit.model = model;
  const { status, body } = kit.converse({ messages: [hello] });
  expect([status, body.message]).toEqual([400, message]);
});

test("a model without caches refuses cache points, and answers without them", () => {
  const kit = createKit();
  kit.model = "anthropic.claude-2.1";
  const { status, headers, body } = kit.converse({ messages: [said("hello", point)] });
  expect([status, headers["x-amzn-errortype"]?.split(":")[0]]).toEqual([
    403,
    "AccessDeniedException",
  ]);
  expect(body.message).toBe(
    "You invoked an unsupported model or your request did not allow prompt caching. See the documentation for more information.",
  );
  expect(kit.converse({ messages: [hello] }).status).toBe(200);
});

test("a prompt that is too long is refused in AWS's words by every operation", () => {
  const kit = createKit();
  kit.model = "anthropic.claude-haiku-4-5-20251001-v1:0";
  const text = "word ".repeat(250_000);
  const own = {
    anthropic_version: "bedrock-2023-05-31",
    max_tokens: 10,
    messages: [{ role: "user", content: text }],
  };
  const message = "Input is too long for requested model.";
  expect(kit.converse({ messages: [said(text)] }).body).toEqual({ message });
  expect(kit.post("converse-stream", { messages: [said(text)] }).body).toEqual({ message });
  expect(kit.post("invoke", own).body).toEqual({ message });
});

test.each([
  ["rate limited", 429, "ThrottlingException"],
  ["server error", 500, "InternalServerException"],
  ["overloaded", 503, "ServiceUnavailableException"],
  ["model timeout", 408, "ModelTimeoutException"],
  ["model error", 424, "ModelErrorException"],
] as const)("a fault is worded as AWS does: %s", (kind, status, type) => {
  const { surface, nowMs, workspace } = createKit();
  const fault = kind === "rate limited" ? { kind, retryAfterSeconds: null } : { kind };
  const place = { newId: () => "id", nowMs, workspace, path: "" };
  const response = surface.fault(fault, place);
  expect([response.status, response.headers["x-amzn-errortype"]?.split(":")[0]]).toEqual([
    status,
    type,
  ]);
  expect(jsonOf(response)).toEqual({ message: expect.any(String) });
});
