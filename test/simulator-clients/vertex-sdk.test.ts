// Goal: @anthropic-ai/vertex-sdk cannot tell the simulator from Vertex. Method: it drives it over loopback HTTP, with a
// token that is given, so that nothing asks Google for one.
import {
  AuthenticationError,
  BadRequestError,
  InternalServerError,
  NotFoundError,
  RateLimitError,
} from "@anthropic-ai/sdk";
import { AnthropicVertex } from "@anthropic-ai/vertex-sdk";
import { expect, test } from "vitest";
import { plantedToken } from "../../harness/planted-key.ts";
import { manual, serve, statusesOf } from "./serve.ts";

type AuthClient = NonNullable<ConstructorParameters<typeof AnthropicVertex>[0]>["authClient"];

function connect(
  url: string,
  options: { readonly projectId?: string; readonly region?: string; readonly token?: string } = {},
): AnthropicVertex {
  const { projectId = "my-project", region = "global", token = plantedToken } = options;
  const headers = token === "" ? {} : { authorization: `Bearer ${token}` };
  const getRequestHeaders = (): Promise<Headers> => Promise.resolve(new Headers(headers));
  const authClient = { getRequestHeaders } as unknown as AuthClient;
  const place = { baseURL: `${url}/v1`, projectId, region };
  return new AnthropicVertex({
    ...place,
    ...(authClient && { authClient }),
    maxRetries: 0,
    logLevel: "off",
  });
}

const request = {
  model: "claude-sonnet-5-5",
  max_tokens: 100,
  messages: [{ role: "user" as const, content: "hello" }],
};
const marked = {
  ...request,
  system: [{ type: "text" as const, text: manual, cache_control: { type: "ephemeral" as const } }],
};

test("creates a message", async () => {
  const { simulator, url } = await serve();
  const message = await connect(url).messages.create(request);
  expect(message).toMatchObject({
    id: expect.stringMatching(/^msg_vrtx_/),
    stop_reason: "end_turn",
  });
  expect(message.content.at(-1)).toMatchObject({ type: "text", text: "hello" });
  expect(simulator.calls()[0]).toMatchObject({ surface: "vertex", status: 200 });
});

test("streams the same message as it creates", async () => {
  const { simulator, url } = await serve();
  const created = await connect(url).messages.create(request);
  simulator.reset();
  const streamed = await connect(url).messages.stream(request).finalMessage();
  expect(streamed.content).toEqual(created.content);
  expect(streamed.usage.output_tokens).toBe(created.usage.output_tokens);
});

test("counts what it is then billed for", async () => {
  const { url } = await serve();
  const client = connect(url);
  const { model, messages } = request;
  const { input_tokens: counted } = await client.messages.countTokens({ model, messages });
  expect((await client.messages.create(request)).usage.input_tokens).toBe(counted);
});

test("caches per project and location, whatever the token", async () => {
  const { url } = await serve();
  expect(await doesRead(connect(url))).toBe(false);
  expect(await doesRead(connect(url, { token: `${plantedToken}2` }))).toBe(true);
  expect(await doesRead(connect(url, { projectId: "another" }))).toBe(false);
  expect(await doesRead(connect(url, { region: "us-east5" }))).toBe(false);
});

async function doesRead(client: AnthropicVertex): Promise<boolean> {
  const { usage } = await client.messages.create(marked);
  return (usage.cache_read_input_tokens ?? 0) > 2000;
}

test("throws its own error without a token", async () => {
  const { url } = await serve();
  const failure = await connect(url, { token: "" })
    .messages.create(request)
    .catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(AuthenticationError);
  expect(failure).toMatchObject({ error: { error: { code: 401, status: "UNAUTHENTICATED" } } });
});

test("throws its own errors for an unknown model, and for what the model refuses", async () => {
  const { url } = await serve();
  const create = (change: object): Promise<unknown> =>
    connect(url).messages.create({ ...request, ...change });
  await expect(create({ model: "claude-0" })).rejects.toBeInstanceOf(NotFoundError);
  await expect(create({ temperature: 0.5 })).rejects.toBeInstanceOf(BadRequestError);
});

test.each([
  ["rate limited", RateLimitError, 429],
  ["server error", InternalServerError, 500],
  ["overloaded", InternalServerError, 529],
  ["overflow", BadRequestError, 400],
] as const)("throws its own error when it is %s", async (kind, expected, status) => {
  const { simulator, url } = await serve({ faults: [{ kind }] });
  await expect(connect(url).messages.create(request)).rejects.toBeInstanceOf(expected);
  expect(statusesOf(simulator)).toEqual([status]);
});
