// Goal: @anthropic-ai/sdk cannot tell the simulator from a provider. Method: it drives it over loopback HTTP.
import {
  Anthropic,
  APIUserAbortError,
  BadRequestError,
  InternalServerError,
  NotFoundError,
  RateLimitError,
} from "@anthropic-ai/sdk";
import { betaTool } from "@anthropic-ai/sdk/helpers/beta/json-schema";
import { expect, test } from "vitest";
import { plantedKey } from "../../harness/planted-key.ts";
import { createScripted, createSimulator } from "../../src/simulator/index.ts";
import { claude, hello, manual, oneCall, serve, statusesOf, weather } from "./serve.ts";

function connect(url: string, maxRetries = 0): Anthropic {
  return new Anthropic({ baseURL: url, apiKey: plantedKey, maxRetries, logLevel: "off" });
}

test("creates a message", async () => {
  const { url } = await serve();
  const message = await connect(url).messages.create({
    model: claude,
    max_tokens: 100,
    messages: hello,
  });
  expect(message).toMatchObject({ type: "message", role: "assistant", stop_reason: "end_turn" });
  expect(message.content.at(-1)).toMatchObject({ type: "text", text: "hello" });
});

test("streams the same message as it creates", async () => {
  const { simulator, url } = await serve();
  const request = { model: claude, max_tokens: 100, messages: hello };
  const created = await connect(url).messages.create(request);
  simulator.reset();
  const stream = connect(url).messages.stream(request);
  const texts: string[] = [];
  stream.on("text", (text) => texts.push(text));
  const streamed = await stream.finalMessage();
  expect(texts.join("")).toBe("hello");
  expect(streamed.content).toEqual(created.content);
  expect(streamed.usage.output_tokens).toBe(created.usage.output_tokens);
});

test("counts what it is then billed for", async () => {
  const { url } = await serve();
  const request = { model: claude, system: manual, messages: hello };
  const { input_tokens: counted } = await connect(url).messages.countTokens(request);
  const { usage } = await connect(url).messages.create({ ...request, max_tokens: 10 });
  expect(usage.input_tokens).toBe(counted);
});

test("lists models", async () => {
  const { url } = await serve();
  const { data } = await connect(url).models.list();
  expect(data.map(({ id }) => id)).toContain(claude);
});

test("reads the marked prefix on the second call, in a stream too", async () => {
  const { url } = await serve();
  const system = [
    { type: "text" as const, text: manual, cache_control: { type: "ephemeral" as const } },
  ];
  const request = { model: claude, max_tokens: 100, system, messages: hello };
  const first = await connect(url).messages.create(request);
  const second = await connect(url).messages.stream(request).finalMessage();
  expect(first.usage.cache_creation_input_tokens).toBeGreaterThan(2000);
  expect(second.usage.cache_read_input_tokens).toBe(first.usage.cache_creation_input_tokens);
  expect(second.usage.cache_creation_input_tokens).toBe(0);
});

test("pays for every one of several calls that begin together, and reads afterwards", async () => {
  const { url } = await serve({ latency: { firstByteMs: 300 } });
  const client = connect(url);
  const system = [
    { type: "text" as const, text: manual, cache_control: { type: "ephemeral" as const } },
  ];
  const ask = async (): Promise<number | null> =>
    (await send(client, { system })).usage.cache_read_input_tokens;
  expect(await Promise.all([ask(), ask(), ask(), ask(), ask()])).toEqual([0, 0, 0, 0, 0]);
  expect(await ask()).toBeGreaterThan(2000);
});

test("runs a tool loop, though its threads are refused", async () => {
  const { simulator, url } = await serve({ model: createScripted(oneCall) });
  const cities: string[] = [];
  const runner = connect(url).beta.messages.toolRunner({
    model: claude,
    max_tokens: 200,
    messages: hello,
    tools: [
      betaTool({
        name: weather.name,
        description: weather.description,
        inputSchema: weather.schema,
        run: ({ city }) => {
          cities.push(city);
          return "sunny";
        },
      }),
    ],
  });
  const last = await runner.runUntilDone();
  expect(cities).toEqual(["Paris"]);
  expect(last.content.at(-1)).toMatchObject({ text: "It is sunny in Paris." });
  expect(simulator.calls().filter(({ billed }) => billed !== null)).toHaveLength(2);
});

test.each<[string, (client: Anthropic) => Promise<unknown>, unknown]>([
  ["a bad request", (client) => send(client, { max_tokens: -1 }), BadRequestError],
  ["an unknown model", (client) => send(client, { model: "claude-0" }), NotFoundError],
  ["an unknown path", (client) => client.post("/v1/nothing", {}), NotFoundError],
])("throws its own error for %s", async (_name, act, expected) => {
  const { url } = await serve();
  await expect(act(connect(url))).rejects.toBeInstanceOf(expected);
});

test("throws its own error without a key", async () => {
  const { url } = await serve();
  const client = new Anthropic({ baseURL: url, apiKey: "", maxRetries: 0 });
  await expect(send(client, {})).rejects.toThrow(/authenticat|api[-_ ]?key/i);
  const response = await fetch(`${url}/v1/messages`, {
    method: "POST",
    headers: { "anthropic-version": "2023-06-01" },
    body: "{}",
  });
  expect(response.status).toBe(401);
  expect(await response.json()).toMatchObject({ error: { type: "authentication_error" } });
});

test("throws its own error for a body over the limit", async () => {
  const { url } = await serve({ bodyBytesMax: 1000 });
  const failure = send(connect(url), { system: manual });
  await expect(failure).rejects.toMatchObject({ status: 413, type: "request_too_large" });
});

test.each([
  ["rate limited", RateLimitError, 429],
  ["server error", InternalServerError, 500],
  ["overloaded", InternalServerError, 529],
  ["model timeout", InternalServerError, 504],
  ["model error", InternalServerError, 500],
  ["overflow", BadRequestError, 400],
] as const)("throws its own error when it is %s", async (kind, expected, status) => {
  const { url } = await serve({ faults: [{ kind }] });
  const failure = await send(connect(url), {}).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(expected);
  expect(failure).toMatchObject({ status });
});

test("tries again after the time in the error", async () => {
  const { simulator, url } = await serve({
    faults: [{ kind: "rate limited", retryAfterSeconds: 1 }, { kind: "overloaded" }],
  });
  const start = performance.now();
  const message = await send(connect(url, 2), {});
  expect(message.stop_reason).toBe("end_turn");
  expect(performance.now() - start).toBeGreaterThan(990);
  expect(statusesOf(simulator)).toEqual([429, 529, 200]);
});

test("does not try again when a script has no answer", async () => {
  const { simulator, url } = await serve({ model: createScripted([{ text: "once" }]) });
  await send(connect(url, 2), {});
  await expect(send(connect(url, 2), {})).rejects.toThrow("the script has no step left");
  expect(statusesOf(simulator)).toEqual([200, 500]);
});

test.each(["cut", "malformed"] as const)("notices a stream that is %s", async (kind) => {
  const { simulator, url } = await serve({ faults: [{ kind, afterEvents: 3 }] });
  const stream = connect(url).messages.stream({ model: claude, max_tokens: 50, messages: hello });
  await expect(stream.finalMessage()).rejects.toThrow(/terminated|JSON|ended|Connection/i);
  expect(simulator.calls()[0]).toMatchObject({ outcome: "cut", fault: kind });
});

test("throws its own error for one within a stream", async () => {
  const { url } = await serve({ faults: [{ kind: "error event" }] });
  const stream = connect(url).messages.stream({ model: claude, max_tokens: 50, messages: hello });
  await expect(stream.finalMessage()).rejects.toMatchObject({ type: "overloaded_error" });
});

test("can give up on a stream that stalls", async () => {
  const { simulator, url } = await serve({ faults: [{ kind: "stall", afterEvents: 2 }] });
  const stream = connect(url).messages.stream({ model: claude, max_tokens: 50, messages: hello });
  setTimeout(() => stream.abort(), 100);
  await expect(stream.finalMessage()).rejects.toBeInstanceOf(APIUserAbortError);
  await expect.poll(() => simulator.calls()[0]?.outcome).toBe("left");
});

test("needs no socket: the simulator is its fetch", async () => {
  const simulator = createSimulator({ clock: "virtual" });
  const client = new Anthropic({
    baseURL: "http://localhost",
    apiKey: plantedKey,
    fetch: simulator.fetch,
  });
  const { content } = await send(client, {});
  expect(content.at(-1)).toMatchObject({ text: "hello" });
});

function send(
  client: Anthropic,
  change: Partial<Anthropic.MessageCreateParamsNonStreaming>,
): Promise<Anthropic.Message> {
  return client.messages.create({ model: claude, max_tokens: 100, messages: hello, ...change });
}
