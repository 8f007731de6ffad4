// Goal: @anthropic-ai/bedrock-sdk cannot tell the simulator from Bedrock. Method: it drives it over loopback HTTP.
import { AnthropicBedrock } from "@anthropic-ai/bedrock-sdk";
import {
  BadRequestError,
  InternalServerError,
  PermissionDeniedError,
  RateLimitError,
} from "@anthropic-ai/sdk";
import { expect, test } from "vitest";
import { plantedPassword, plantedToken } from "../../harness/planted-key.ts";
import { createScripted } from "../../src/simulator/index.ts";
import { manual, oneCall, serve, statusesOf, weather } from "./serve.ts";

const awsAccessKey = "AKIDTEST";
const awsKeys = [{ accessKeyId: awsAccessKey, secretAccessKey: plantedPassword }];

function connect(
  baseURL: string,
  awsSecretKey = plantedPassword,
  maxRetries = 0,
): AnthropicBedrock {
  const credentials = { awsAccessKey, awsSecretKey, awsRegion: "eu-west-1" };
  return new AnthropicBedrock({ baseURL, ...credentials, maxRetries, logLevel: "off" });
}

const request = {
  model: "eu.anthropic.claude-sonnet-5-5",
  max_tokens: 200,
  messages: [{ role: "user" as const, content: "hello" }],
};
const marked = {
  ...request,
  system: [{ type: "text" as const, text: manual, cache_control: { type: "ephemeral" as const } }],
};

test("creates a message, signed", async () => {
  const { simulator, url } = await serve({ awsKeys });
  const message = await connect(url).messages.create(request);
  expect(message.content.at(-1)).toMatchObject({ type: "text", text: "hello" });
  expect(simulator.calls()[0]).toMatchObject({
    path: "/model/eu.anthropic.claude-sonnet-5-5/invoke",
    surface: "bedrock",
    status: 200,
  });
});

test("streams the same message as it creates, and reads what the first call wrote", async () => {
  const { url } = await serve({ awsKeys });
  const client = connect(url);
  const created = await client.messages.create(marked);
  const streamed = await client.messages.stream(marked).finalMessage();
  expect(streamed.content.at(-1)).toEqual(created.content.at(-1));
  expect(created.usage.cache_creation_input_tokens).toBeGreaterThan(2000);
  expect(streamed.usage.cache_read_input_tokens).toBe(created.usage.cache_creation_input_tokens);
});

test("runs a tool loop with the thinking of the model sent back", async () => {
  const { url } = await serve({ awsKeys, model: createScripted(oneCall) });
  const client = connect(url);
  const tools = [
    {
      name: weather.name,
      description: weather.description,
      input_schema: { ...weather.schema, required: ["city"] },
    },
  ];
  const first = await client.messages.create({ ...request, tools });
  const use = first.content.find(({ type }) => type === "tool_use");
  const id = use?.type === "tool_use" ? use.id : "";
  expect(id).toMatch(/^toolu_bdrk_/);
  const second = await client.messages.create({
    ...request,
    tools,
    messages: [
      ...request.messages,
      { role: "assistant", content: first.content },
      { role: "user", content: [{ type: "tool_result", tool_use_id: id, content: "sunny" }] },
    ],
  });
  expect(second.content.at(-1)).toMatchObject({ text: "It is sunny in Paris." });
});

test("takes a Bedrock API key", async () => {
  const { url } = await serve();
  const client = new AnthropicBedrock({ baseURL: url, apiKey: plantedToken, maxRetries: 0 });
  const message = await client.messages.create(request);
  expect(message.stop_reason).toBe("end_turn");
});

test("throws its own error for a wrong secret", async () => {
  const { url } = await serve({ awsKeys });
  const failure = await connect(url, "wrong")
    .messages.create(request)
    .catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(PermissionDeniedError);
  expect(String(failure)).toContain("The request signature we calculated does not match");
});

test("throws its own error for a marker of the whole request, which Bedrock does not take", async () => {
  const { url } = await serve({ awsKeys });
  const failure = connect(url).messages.create({
    ...request,
    cache_control: { type: "ephemeral" },
  });
  await expect(failure).rejects.toBeInstanceOf(BadRequestError);
});

test.each([
  ["rate limited", RateLimitError, 429],
  ["server error", InternalServerError, 500],
  ["overloaded", InternalServerError, 503],
  ["overflow", BadRequestError, 400],
] as const)("throws its own error when it is %s", async (kind, expected, status) => {
  const { url } = await serve({ awsKeys, faults: [{ kind }] });
  const failure = await connect(url)
    .messages.create(request)
    .catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(expected);
  expect(failure).toMatchObject({ status });
});

test("tries again by its own rules", async () => {
  const { simulator, url } = await serve({ awsKeys, faults: [{ kind: "overloaded" }] });
  await connect(url, plantedPassword, 1).messages.create(request);
  expect(statusesOf(simulator)).toEqual([503, 200]);
});

test("does not try again when a script has no answer", async () => {
  const { simulator, url } = await serve({ awsKeys, model: createScripted([]) });
  const failure = connect(url, plantedPassword, 2).messages.create(request);
  await expect(failure).rejects.toThrow("the script has no step left");
  expect(statusesOf(simulator)).toEqual([500]);
});

test("throws its own error for an exception within a stream", async () => {
  const { url } = await serve({ awsKeys, faults: [{ kind: "error event" }] });
  const failure = connect(url).messages.stream(request).finalMessage();
  await expect(failure).rejects.toMatchObject({ type: "modelStreamErrorException" });
});

test.each(["cut", "malformed"] as const)("notices a stream that is %s", async (kind) => {
  const { simulator, url } = await serve({ awsKeys, faults: [{ kind, afterEvents: 3 }] });
  const failure = await connect(url)
    .messages.stream(request)
    .finalMessage()
    .catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(Error);
  expect(simulator.calls()[0]).toMatchObject({ outcome: "cut", fault: kind });
});
