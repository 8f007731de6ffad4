// Goal: openai cannot tell the simulator from a provider. Method: it drives it over loopback HTTP.
import {
  OpenAI,
  AuthenticationError,
  BadRequestError,
  InternalServerError,
  NotFoundError,
  RateLimitError,
} from "openai";
import { expect, test } from "vitest";
import { plantedOpenaiKey } from "../../harness/planted-key.ts";
import { createScripted } from "../../src/simulator/index.ts";
import { gpt, hello, manual, oneCall, serve, statusesOf, weather } from "./serve.ts";

function connect(url: string, maxRetries = 0): OpenAI {
  return new OpenAI({
    baseURL: `${url}/v1`,
    apiKey: plantedOpenaiKey,
    maxRetries,
    logLevel: "off",
  });
}
const tools = [
  {
    type: "function" as const,
    name: weather.name,
    description: weather.description,
    parameters: weather.schema,
    strict: true,
  },
];

test("completes a chat, whole and as a stream", async () => {
  const { url } = await serve();
  const chat = connect(url).chat.completions;
  const whole = await chat.create({ model: gpt, messages: hello });
  expect(whole.choices[0]).toMatchObject({
    message: { role: "assistant", content: "hello" },
    finish_reason: "stop",
  });
  const stream = chat.stream({
    model: gpt,
    messages: hello,
    stream_options: { include_usage: true },
  });
  const streamed = await stream.finalChatCompletion();
  expect(streamed.choices[0]?.message.content).toBe("hello");
  expect(streamed.usage?.total_tokens).toBe(whole.usage?.total_tokens);
});

test("runs a tool loop over chat", async () => {
  const { url } = await serve({ model: createScripted(oneCall) });
  const runner = connect(url).chat.completions.runTools({
    model: gpt,
    messages: hello,
    tools: [
      {
        type: "function",
        function: {
          name: weather.name,
          description: weather.description,
          parameters: { ...weather.schema, required: [...weather.schema.required] },
          parse: JSON.parse,
          function: () => "sunny",
        },
      },
    ],
  });
  expect(await runner.finalContent()).toBe("It is sunny in Paris.");
});

test("makes a response, whole and as a stream", async () => {
  const { url } = await serve();
  const { responses } = connect(url);
  const whole = await responses.create({ model: gpt, input: "hello" });
  expect(whole).toMatchObject({ status: "completed", output_text: "hello" });
  const streamed = await responses.stream({ model: gpt, input: "hello" }).finalResponse();
  expect(streamed.output_text).toBe("hello");
  expect(streamed.usage).toEqual(whole.usage);
});

test("runs a tool loop over responses", async () => {
  const { url } = await serve({ model: createScripted(oneCall) });
  const { responses } = connect(url);
  const first = await responses.create({ model: gpt, input: hello, tools });
  const call = first.output.find((item) => item.type === "function_call");
  expect(call).toMatchObject({ name: "get_weather", arguments: '{"city":"Paris"}' });
  const output = {
    type: "function_call_output" as const,
    call_id: call?.type === "function_call" ? call.call_id : "",
    output: "sunny",
  };
  const second = await responses.create({
    model: gpt,
    input: [...hello, ...(first.output as OpenAI.Responses.ResponseInput), output],
    tools,
  });
  expect(second.output_text).toBe("It is sunny in Paris.");
});

test("counts what it is then billed for", async () => {
  const { url } = await serve();
  const { responses } = connect(url);
  const request = { model: gpt, instructions: manual, input: "hello" };
  const { input_tokens: counted } = await responses.inputTokens.count(request);
  const { usage } = await responses.create(request);
  expect(usage?.input_tokens).toBe(counted);
});

test("lists models", async () => {
  const { url } = await serve();
  const { data } = await connect(url).models.list();
  expect(data.map(({ id }) => id)).toContain(gpt);
});

test("reads the prefix up to a breakpoint on the second call, whatever follows", async () => {
  const { url } = await serve();
  const ask = (question: string): Promise<OpenAI.Responses.Response> =>
    connect(url).responses.create({
      model: gpt,
      prompt_cache_options: { mode: "explicit" },
      input: [
        {
          role: "user",
          content: [
            {
              type: "input_text",
              text: manual,
              prompt_cache_breakpoint: { mode: "explicit" },
            },
            { type: "input_text", text: question },
          ],
        },
      ],
    });
  const first = await ask("Where is the parser?");
  const second = await ask("And where are its tests?");
  const written = first.usage?.input_tokens_details.cache_write_tokens;
  expect(written).toBeGreaterThan(1024);
  expect(second.usage?.input_tokens_details).toMatchObject({
    cached_tokens: written,
    cache_write_tokens: 0,
  });
});

test.each<[string, (client: OpenAI) => Promise<unknown>, unknown]>([
  ["a bad request", (client) => send(client, { max_output_tokens: -1 }), BadRequestError],
  ["an unknown model", (client) => send(client, { model: "gpt-0" }), NotFoundError],
  ["an unknown path", (client) => client.post("/nothing", {}), NotFoundError],
])("throws its own error for %s", async (_name, act, expected) => {
  const { url } = await serve();
  await expect(act(connect(url))).rejects.toBeInstanceOf(expected);
});

test("throws its own error without a key", async () => {
  const { url } = await serve();
  const client = new OpenAI({
    baseURL: `${url}/v1`,
    apiKey: plantedOpenaiKey,
    maxRetries: 0,
    defaultHeaders: { authorization: null },
  });
  await expect(send(client, {})).rejects.toBeInstanceOf(AuthenticationError);
});

test.each([
  ["rate limited", RateLimitError, 429],
  ["server error", InternalServerError, 500],
  ["overloaded", InternalServerError, 503],
  ["overflow", BadRequestError, 400],
] as const)("throws its own error when it is %s", async (kind, expected, status) => {
  const { url } = await serve({ faults: [{ kind }] });
  const failure = await send(connect(url), {}).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(expected);
  expect(failure).toMatchObject({ status });
});

test("tries again after the time in the error", async () => {
  const { simulator, url } = await serve({
    faults: [{ kind: "rate limited", retryAfterSeconds: 1 }, { kind: "server error" }],
  });
  const start = performance.now();
  expect((await send(connect(url, 2), {})).status).toBe("completed");
  expect(performance.now() - start).toBeGreaterThan(990);
  expect(statusesOf(simulator)).toEqual([429, 500, 200]);
});

test.each(["cut", "malformed"] as const)("notices a stream that is %s", async (kind) => {
  const { url } = await serve({ faults: [{ kind, afterEvents: 4 }] });
  const stream = connect(url).responses.stream({ model: gpt, input: "hello" });
  await expect(stream.finalResponse()).rejects.toThrow(/terminated|JSON|ended|Connection/i);
});

test("throws its own error for one within a stream", async () => {
  const { url } = await serve({ faults: [{ kind: "error event", count: 2 }] });
  const answer = connect(url).responses.stream({ model: gpt, input: "hello" });
  await expect(answer.finalResponse()).rejects.toThrow(/had an error/);
  const messages = [{ role: "user" as const, content: "hello" }];
  const chat = connect(url).chat.completions.stream({ model: gpt, messages });
  await expect(chat.finalMessage()).rejects.toThrow(/had an error/);
});

function send(
  client: OpenAI,
  change: Partial<OpenAI.Responses.ResponseCreateParamsNonStreaming>,
): Promise<OpenAI.Responses.Response> {
  return client.responses.create({ model: gpt, input: "hello", ...change });
}
