// Goal: AWS's own client cannot tell the simulator from Bedrock. Method: it drives it over loopback HTTP; it signs, reads
// frames and checks their checksums with code that is not ours. By default it speaks HTTP/2.
import {
  AccessDeniedException,
  BedrockRuntimeClient,
  ConverseCommand,
  ConverseStreamCommand,
  CountTokensCommand,
  InternalServerException,
  InvokeModelCommand,
  InvokeModelWithResponseStreamCommand,
  ServiceUnavailableException,
  ModelErrorException,
  ModelStreamErrorException,
  ModelTimeoutException,
  ThrottlingException,
  ValidationException,
  type ContentBlock,
  type ConverseCommandInput,
  type Message,
} from "@aws-sdk/client-bedrock-runtime";
import { expect, onTestFinished, test } from "vitest";
import { plantedPassword, plantedToken } from "../../harness/planted-key.ts";
import { createScripted } from "../../src/simulator/index.ts";
import { manual, oneCall, serve, statusesOf, weather } from "./serve.ts";

const modelId = "us.anthropic.claude-sonnet-5-5-20260928-v1:0";
const accessKeyId = "AKIDTEST";
const awsKeys = [{ accessKeyId, secretAccessKey: plantedPassword }];

function connect(url: string, secretAccessKey = plantedPassword): BedrockRuntimeClient {
  const credentials = { accessKeyId, secretAccessKey };
  return closed(new BedrockRuntimeClient({ ...place(url), credentials }));
}

function connectByToken(url: string): BedrockRuntimeClient {
  return closed(
    new BedrockRuntimeClient({
      ...place(url),
      token: { token: plantedToken },
      authSchemePreference: ["httpBearerAuth"],
    }),
  );
}

function place(url: string): {
  readonly region: string;
  readonly endpoint: string;
  readonly maxAttempts: number;
} {
  return { region: "us-east-1", endpoint: url, maxAttempts: 1 };
}

function closed(client: BedrockRuntimeClient): BedrockRuntimeClient {
  onTestFinished(() => client.destroy());
  return client;
}

const hello: Message[] = [{ role: "user", content: [{ text: "hello" }] }];
const marked: Partial<ConverseCommandInput> = {
  system: [{ text: manual }, { cachePoint: { type: "default", ttl: "1h" } }],
};

function ask(change: Partial<ConverseCommandInput> = {}): ConverseCommand {
  return new ConverseCommand({ modelId, messages: hello, ...change });
}

function textOf(content: readonly ContentBlock[] | undefined): string | undefined {
  return content?.flatMap(({ text }) => (text === undefined ? [] : [text])).join("");
}

test("converses, with a signature that our check accepts", async () => {
  const { url } = await serve({ awsKeys });
  const reply = await connect(url).send(ask());
  expect(textOf(reply.output?.message?.content)).toBe("hello");
  expect(reply).toMatchObject({ stopReason: "end_turn", usage: { cacheDetails: [] } });
  expect(reply.$metadata.requestId).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
});

test("streams the same reply as it returns whole", async () => {
  const { simulator, url } = await serve({ awsKeys });
  const client = connect(url);
  const whole = await client.send(ask(marked));
  simulator.reset();
  const input = { modelId, messages: hello, ...marked };
  const { stream } = await client.send(new ConverseStreamCommand(input));
  let text = "";
  let usage: unknown;
  const kinds: (string | undefined)[] = [];
  for await (const event of stream ?? []) {
    kinds.push(Object.keys(event)[0]);
    text += event.contentBlockDelta?.delta?.text ?? "";
    usage = event.metadata?.usage ?? usage;
  }
  expect(text).toBe("hello");
  expect(usage).toEqual(whole.usage);
  expect([kinds[0], ...kinds.slice(-2)]).toEqual(["messageStart", "messageStop", "metadata"]);
});

test("reads the prefix before a cache point on the second call", async () => {
  const { url } = await serve({ awsKeys });
  const client = connect(url);
  const [first, second] = [await client.send(ask(marked)), await client.send(ask(marked))];
  const written = first.usage?.cacheWriteInputTokens ?? 0;
  expect(written).toBeGreaterThan(2000);
  expect(first.usage?.cacheDetails).toEqual([{ ttl: "1h", inputTokens: written }]);
  expect(second.usage).toMatchObject({ cacheReadInputTokens: written, cacheDetails: [] });
});

test("goes on after a tool was used, with the thinking sent back", async () => {
  const { url } = await serve({ awsKeys, model: createScripted(oneCall) });
  const client = connect(url);
  const toolSpec = {
    name: weather.name,
    description: weather.description,
    inputSchema: { json: { type: "object", properties: { city: { type: "string" } } } },
  };
  const toolConfig = { tools: [{ toolSpec }] };
  const first = await client.send(ask({ toolConfig }));
  const message = first.output?.message;
  const use = message?.content?.flatMap(({ toolUse }) => toolUse ?? [])[0];
  expect([first.stopReason, use?.name, use?.input]).toEqual([
    "tool_use",
    "get_weather",
    { city: "Paris" },
  ]);
  const result = { toolUseId: use?.toolUseId, content: [{ json: { sky: "sunny" } }] };
  const second = await client.send(
    ask({
      toolConfig,
      messages: [
        ...hello,
        ...(message === undefined ? [] : [message]),
        { role: "user", content: [{ toolResult: result }] },
      ],
    }),
  );
  expect(textOf(second.output?.message?.content)).toBe("It is sunny in Paris.");
});

const body = JSON.stringify({
  anthropic_version: "bedrock-2023-05-31",
  max_tokens: 100,
  system: [{ type: "text", text: manual, cache_control: { type: "ephemeral" } }],
  messages: [{ role: "user", content: "hello" }],
});

test("invokes a model with a body of its own API", async () => {
  const { url } = await serve({ awsKeys });
  const reply = await connect(url).send(new InvokeModelCommand({ modelId, body }));
  expect(JSON.parse(reply.body.transformToString())).toMatchObject({
    id: expect.stringMatching(/^msg_bdrk_/),
    content: [{ type: "thinking" }, { type: "text", text: "hello" }],
    usage: { cache_read_input_tokens: 0, input_tokens: expect.any(Number) },
  });
});

test("streams an invoked model event by event, with the counts of AWS in the last", async () => {
  const { url } = await serve({ awsKeys });
  const client = connect(url);
  const command = new InvokeModelWithResponseStreamCommand({ modelId, body });
  const { body: stream } = await client.send(command);
  const events: Record<string, unknown>[] = [];
  for await (const { chunk } of stream ?? [])
    events.push(JSON.parse(Buffer.from(chunk?.bytes ?? []).toString()));
  expect(events[0]).toMatchObject({ type: "message_start" });
  expect(events.at(-1)).toMatchObject({
    type: "message_stop",
    "amazon-bedrock-invocationMetrics": {
      cacheReadInputTokenCount: 0,
      cacheWriteInputTokenCount: expect.any(Number),
      outputTokenCount: expect.any(Number),
    },
  });
});

test("counts what it is then billed for, by both APIs", async () => {
  const { url } = await serve({ awsKeys });
  const client = connect(url);
  const count = async (
    input: ConstructorParameters<typeof CountTokensCommand>[0]["input"],
  ): Promise<number | undefined> =>
    (await client.send(new CountTokensCommand({ modelId, input }))).inputTokens;
  const converse = { messages: hello, system: [{ text: manual }] };
  const { usage } = await client.send(ask(converse));
  expect(await count({ converse })).toBe(usage?.inputTokens);
  expect(await count({ invokeModel: { body: Buffer.from(body) } })).toBe(usage?.inputTokens);
});

test("takes an API key instead of a signature", async () => {
  const { url } = await serve({ awsKeys });
  const reply = await connectByToken(url).send(ask());
  expect(textOf(reply.output?.message?.content)).toBe("hello");
});

test("takes the ARN of an inference profile, whose colons and slash are signed twice encoded", async () => {
  const { url } = await serve({ awsKeys });
  const arn =
    "arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-opus-5-5";
  const reply = await connect(url).send(ask({ modelId: arn }));
  expect(textOf(reply.output?.message?.content)).toBe("hello");
});

test("is refused with a wrong secret, and with a key that is not known", async () => {
  const { url } = await serve({ awsKeys });
  await expect(connect(url, "not the secret").send(ask())).rejects.toMatchObject({
    name: "InvalidSignatureException",
    message: expect.stringMatching(
      /^The request signature we calculated does not match the signature you provided\./,
    ),
    $metadata: { httpStatusCode: 403 },
  });
  const stranger = closed(
    new BedrockRuntimeClient({
      ...place(url),
      credentials: { accessKeyId: "AKIDOTHER", secretAccessKey: plantedPassword },
    }),
  );
  await expect(stranger.send(ask())).rejects.toMatchObject({
    name: "UnrecognizedClientException",
    $metadata: { httpStatusCode: 403 },
  });
});

test.each([
  ["a blank text", { messages: [{ role: "user", content: [{ text: " " }] }] }, ValidationException],
  ["an unknown model", { modelId: "anthropic.claude-0" }, ValidationException],
  [
    "caching of a model without caches",
    { ...marked, modelId: "anthropic.claude-2.1" },
    AccessDeniedException,
  ],
] as const)("throws its own exception for %s", async (_name, change, expected) => {
  const { url } = await serve({ awsKeys });
  const failure = connect(url).send(ask(change as Partial<ConverseCommandInput>));
  await expect(failure).rejects.toBeInstanceOf(expected);
});

test.each([
  ["rate limited", ThrottlingException],
  ["server error", InternalServerException],
  ["overloaded", ServiceUnavailableException],
  ["model timeout", ModelTimeoutException],
  ["model error", ModelErrorException],
  ["overflow", ValidationException],
] as const)("throws its own exception when it is %s", async (kind, expected) => {
  const { url } = await serve({ awsKeys, faults: [{ kind }] });
  await expect(connect(url).send(ask())).rejects.toBeInstanceOf(expected);
});

test("tries again by its own rules", async () => {
  const { simulator, url } = await serve({
    awsKeys,
    faults: [{ kind: "rate limited" }, { kind: "overloaded" }],
  });
  const client = closed(
    new BedrockRuntimeClient({
      ...place(url),
      maxAttempts: 3,
      credentials: { accessKeyId, secretAccessKey: plantedPassword },
    }),
  );
  expect(textOf((await client.send(ask())).output?.message?.content)).toBe("hello");
  expect(statusesOf(simulator)).toEqual([429, 503, 200]);
});

test.each([
  ["cut", /./],
  ["malformed", /./],
  ["corrupt", /checksum/],
] as const)("notices a stream that is %s", async (kind, message) => {
  const { simulator, url } = await serve({ awsKeys, faults: [{ kind, afterEvents: 2 }] });
  const input = { modelId, messages: hello };
  const { stream } = await connect(url).send(new ConverseStreamCommand(input));
  const read = async (): Promise<void> => {
    for await (const event of stream ?? []) expect(event).toBeDefined();
  };
  await expect(read()).rejects.toThrow(message);
  expect(simulator.calls()[0]).toMatchObject({ outcome: "cut", fault: kind });
});

test("throws its own exception for one within a stream", async () => {
  const { url } = await serve({ awsKeys, faults: [{ kind: "error event" }] });
  const input = { modelId, messages: hello };
  const { stream } = await connect(url).send(new ConverseStreamCommand(input));
  const read = async (): Promise<void> => {
    for await (const event of stream ?? []) expect(event).toBeDefined();
  };
  await expect(read()).rejects.toBeInstanceOf(ModelStreamErrorException);
});
