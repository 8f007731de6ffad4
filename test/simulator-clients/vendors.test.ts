// Goal: the SDKs that people use with vendors of others' protocols cannot tell the simulator from a vendor. Method: `openai` and
// `@anthropic-ai/sdk` drive it over loopback HTTP, as each vendor's documents say.
import Anthropic from "@anthropic-ai/sdk";
import {
  AuthenticationError,
  BadRequestError,
  InternalServerError,
  OpenAI,
  RateLimitError,
} from "openai";
import { describe, expect, test } from "vitest";
import { plantedKey, plantedOpenaiKey } from "../../harness/planted-key.ts";
import { createScripted, vendorPath, type SimulatorOptions } from "../../src/simulator/index.ts";
import { hello, manual, oneCall, serve, weather, type Served } from "./serve.ts";

const steady: SimulatorOptions = { openrouter: { leavesSticky: 0, passesOver: 0 } };

/** The vendor, its path, a model of it, and where its reply says what was read. */
type Vendor = readonly [name: string, path: string, model: string, reads: string | null];

const details = "prompt_tokens_details.cached_tokens";

const overChat: readonly Vendor[] = [
  ["deepseek", "/v1", "deepseek-flash", "prompt_cache_hit_tokens"],
  ["moonshot", "/v1", "kimi-k3", "cached_tokens"],
  ["mistral", "/v1", "mistral-large-4", "num_cached_tokens"],
  ["xai", "/v1", "grok-4.7", details],
  ["qwen", "/compatible-mode/v1", "qwen3.7-max", details],
  ["zai", "/api/paas/v4", "glm-5.3", details],
  ["groq", "/openai/v1", "openai/gpt-oss-120b", details],
  ["minimax", "/v1", "MiniMax-M3", details],
  ["gemini", "/v1beta/openai", "gemini-3.8-flash", details],
  ["llama.cpp", "/v1", "gemma", null],
  ["vllm", "/v1", "Qwen/Qwen3-8B", null],
  ["ollama", "/v1", "qwen3:8b", null],
  ["lm-studio", "/v1", "gemma", null],
  ["openrouter", "/api/v1", "deepseek/deepseek-v4.1-flash", details],
];

const overMessages: readonly (readonly [name: string, path: string, model: string])[] = [
  ["deepseek", "/anthropic", "deepseek-flash"],
  ["moonshot", "/anthropic", "kimi-k3"],
  ["qwen", "/apps/anthropic", "qwen3.7-max"],
  ["minimax", "/anthropic", "MiniMax-M3"],
  ["zai", "/api/anthropic", "glm-5.3"],
  ["llama.cpp", "", "gemma"],
  ["ollama", "", "qwen3:8b"],
  ["openrouter", "/api", "anthropic/claude-sonnet-4.6"],
];

describe.each(overChat)("openai against %s", (name, path, model, reads) => {
  const connect = async (options: SimulatorOptions = {}): Promise<Served & { client: OpenAI }> => {
    const served = await serve({ ...steady, ...options });
    const baseURL = `${served.url}${vendorPath(name)}${path}`;
    const client = new OpenAI({
      baseURL,
      apiKey: plantedOpenaiKey,
      maxRetries: 0,
      logLevel: "off",
    });
    return { ...served, client };
  };

  test("completes a chat, whole and as a stream", async () => {
    const { client } = await connect();
    const whole = await client.chat.completions.create({ model, messages: hello });
    expect(whole.choices[0]).toMatchObject({
      message: { role: "assistant", content: "hello" },
      finish_reason: "stop",
    });
    expect(whole.usage?.total_tokens).toBeGreaterThan(0);
    const stream = client.chat.completions.stream({ model, messages: hello });
    const streamed = await stream.finalChatCompletion();
    expect(streamed.choices[0]?.message.content).toBe("hello");
  });

  test("runs a tool loop", async () => {
    const { client } = await connect({ model: createScripted(oneCall) });
    const tools = [
      { type: "function" as const, function: { ...weather, parameters: parametersOf(weather) } },
    ];
    const first = await client.chat.completions.create({ model, messages: hello, tools });
    const message = first.choices[0]?.message;
    const [call] = message?.tool_calls ?? [];
    if (message === undefined || call?.type !== "function") throw new Error("no call was made");
    expect(JSON.parse(call.function.arguments)).toEqual({ city: "Paris" });
    const result = { role: "tool" as const, tool_call_id: call.id, content: "sunny" };
    // Where thinking must come back, the message of the reply has it.
    const { refusal: _, annotations: __, audio: ___, function_call: ____, ...said } = message;
    const sent = { ...(name === "deepseek" || name === "moonshot" ? thinking : {}), ...said };
    const second = await client.chat.completions.create({
      model,
      messages: [...hello, sent, result],
      tools,
    });
    expect(second.choices[0]?.message.content).toBe("It is sunny in Paris.");
  });

  test("reads a prompt's beginning on a later call", async () => {
    const { client, simulator } = await connect();
    const hosts = name === "openrouter" ? { provider: { order: ["Novita"] } } : {};
    const ask = (text: string): Promise<OpenAI.ChatCompletion> =>
      client.chat.completions.create({
        model,
        ...hosts,
        messages: [
          { role: "system", content: manual.repeat(3) },
          { role: "user", content: text },
        ],
      });
    await ask("Where?");
    await ask("Why?");
    const { usage } = await ask("When?");
    const read = simulator.calls().at(-1)?.billed?.bill.readTokens ?? 0;
    expect(read).toBeGreaterThan(4096);
    expect(reads === null ? read : valueAt(usage, reads)).toBe(read);
  });

  test.each([
    ["rate limited", RateLimitError],
    ["server error", InternalServerError],
    ["overloaded", InternalServerError],
    ["overflow", BadRequestError],
  ] as const)("throws its own error when it is %s", async (kind, expected) => {
    const { client } = await connect({ faults: [{ kind }] });
    const answer = client.chat.completions.create({ model, messages: hello });
    await expect(answer).rejects.toBeInstanceOf(expected);
  });

  test("lists models", async () => {
    const { client } = await connect();
    const { data } = await client.models.list();
    const isOpen = reads === null || name === "groq";
    expect(isOpen || data.some(({ id }) => id === model)).toBe(true);
  });
});

test("without a key a vendor is not reached", async () => {
  const { url } = await serve();
  const baseURL = `${url}${vendorPath("deepseek")}/v1`;
  const keyless = { apiKey: plantedOpenaiKey, defaultHeaders: { authorization: null } };
  const client = new OpenAI({ baseURL, ...keyless, maxRetries: 0, logLevel: "off" });
  const answer = client.chat.completions.create({ model: "deepseek-flash", messages: hello });
  await expect(answer).rejects.toBeInstanceOf(AuthenticationError);
});

describe.each(overMessages)("@anthropic-ai/sdk against %s", (name, path, model) => {
  const connect = async (
    options: SimulatorOptions = {},
  ): Promise<Served & { client: Anthropic }> => {
    const served = await serve({ ...steady, ...options });
    const baseURL = `${served.url}${vendorPath(name)}${path}`;
    return { ...served, client: new Anthropic({ baseURL, apiKey: plantedKey, maxRetries: 0 }) };
  };
  const limit = { model, max_tokens: 500 };

  test("answers, whole and as a stream", async () => {
    const { client } = await connect();
    const whole = await client.messages.create({ ...limit, messages: hello });
    expect(whole.content).toMatchObject([{ type: "text", text: "hello" }]);
    const streamed = await client.messages.stream({ ...limit, messages: hello }).finalMessage();
    expect(streamed.content).toMatchObject([{ type: "text", text: "hello" }]);
    expect(streamed.usage.output_tokens).toBe(whole.usage.output_tokens);
  });

  test("runs a tool loop", async () => {
    const { client } = await connect({ model: createScripted(oneCall) });
    const { name: tool, description, schema } = weather;
    const required = [...schema.required];
    const tools = [{ name: tool, description, input_schema: { ...schema, required } }];
    const first = await client.messages.create({ ...limit, messages: hello, tools });
    const call = first.content.find((block) => block.type === "tool_use");
    expect(call).toMatchObject({ name: "get_weather", input: { city: "Paris" } });
    const result = { type: "tool_result" as const, tool_use_id: call?.id ?? "", content: "sunny" };
    const said = { role: "assistant" as const, content: first.content };
    const messages = [...hello, said, { role: "user" as const, content: [result] }];
    const second = await client.messages.create({ ...limit, messages, tools });
    expect(second.content).toMatchObject([{ type: "text", text: "It is sunny in Paris." }]);
  });

  test("says at the end of a stream what it read, wherever it says it", async () => {
    const { client, simulator } = await connect();
    const marked = { type: "ephemeral" as const };
    const ask = (text: string): Promise<Anthropic.Message> => {
      const system = [{ type: "text" as const, text: manual.repeat(3), cache_control: marked }];
      const said = { role: "assistant" as const, content: "Yes?" };
      const messages = [...hello, said, { role: "user" as const, content: text }];
      return client.messages.stream({ ...limit, system, messages }).finalMessage();
    };
    await ask("Where?");
    await ask("Why?");
    const { usage } = await ask("When?");
    const bill = simulator.calls().at(-1)?.billed?.bill;
    expect(bill?.readTokens).toBeGreaterThan(4096);
    const isSilent = name === "ollama";
    expect(usage.cache_read_input_tokens ?? 0).toBe(isSilent ? 0 : bill?.readTokens);
    expect(usage.input_tokens).toBe(isSilent ? bill?.totalTokens : bill?.uncachedTokens);
  });

  test.each([
    ["rate limited", 429],
    ["server error", 500],
    ["overflow", 400],
  ] as const)("throws its own error when it is %s", async (kind, status) => {
    const { client } = await connect({ faults: [{ kind }] });
    const answer = client.messages.create({ ...limit, messages: hello });
    await expect(answer).rejects.toMatchObject({ status });
  });
});

/** What a client keeps of a reply whose thinking it does not know. */
const thinking = { reasoning_content: "" };

function parametersOf({ schema }: typeof weather): Record<string, unknown> {
  return { ...schema, required: [...schema.required] };
}

function valueAt(value: unknown, path: string): unknown {
  return path
    .split(".")
    .reduce<unknown>(
      (at, key) => (at as Readonly<Record<string, unknown>> | undefined)?.[key],
      value,
    );
}
