// Goal: official clients work through `strata serve --sim` as they do without it. Method: they are driven over loopback HTTP.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { Anthropic, BadRequestError, NotFoundError } from "@anthropic-ai/sdk";
import { betaTool } from "@anthropic-ai/sdk/helpers/beta/json-schema";
import { generateText, isStepCount, jsonSchema, streamText, tool } from "ai";
import OpenAI, { NotFoundError as OpenaiNotFound } from "openai";
import { describe, expect, onTestFinished, test } from "vitest";
import { plantedKey, plantedOpenaiKey } from "../../harness/planted-key.ts";
import { openServe, type Served } from "../../src/cli/serve/open-serve.ts";
import type { ObservedCall } from "../../src/gateway/observed-call.ts";
import { claude, gpt, hello, manual, weather } from "../simulator-clients/serve.ts";

interface Simulated {
  readonly url: string;
  readonly served: Served;
  readonly calls: readonly ObservedCall[];
}

async function serveSimulated(): Promise<Simulated> {
  const folder = mkdtempSync(join(tmpdir(), "strata-serve-"));
  const configFile = join(folder, "strata.yaml");
  writeFileSync(configFile, "");
  const calls: ObservedCall[] = [];
  const served = await openServe({
    flags: {
      port: 0,
      host: null,
      configFile,
      upstreams: new Map(),
      isSimulated: true,
      isDemo: false,
      isOnlyApi: false,
      store: join(folder, "ledger.db"),
      recordFolder: null,
      isOptimizing: false,
      lines: "none",
    },
    env: {},
    onNotice: (notice) => expect.unreachable(notice),
    onCall: (call) => calls.push(call),
  });
  onTestFinished(async () => {
    await served.close("at once");
    rmSync(folder, { recursive: true });
  });
  return { url: served.gateway.urls[0] ?? "", served, calls };
}

function anthropic(url: string): Anthropic {
  return new Anthropic({ baseURL: url, apiKey: plantedKey, maxRetries: 0, logLevel: "off" });
}

describe("@anthropic-ai/sdk", () => {
  test("gets the same message whole and as a stream, and the cache it pays for", async () => {
    const { url, calls } = await serveSimulated();
    const system = [
      { type: "text" as const, text: manual, cache_control: { type: "ephemeral" as const } },
    ];
    const request = { model: claude, max_tokens: 100, system, messages: hello };
    const created = await anthropic(url).messages.create(request);
    const streamed = await anthropic(url).messages.stream(request).finalMessage();
    expect(streamed.content).toEqual(created.content);
    expect(created.usage.cache_creation_input_tokens).toBeGreaterThan(2000);
    expect(streamed.usage.cache_read_input_tokens).toBe(created.usage.cache_creation_input_tokens);
    await expect.poll(() => calls.length).toBe(2);
    expect(calls.map(({ usage }) => usage?.cacheReadTokens)).toEqual([
      0,
      created.usage.cache_creation_input_tokens,
    ]);
    expect(calls.map(({ conversation }) => conversation.client)).toEqual([
      "anthropic-sdk",
      "anthropic-sdk",
    ]);
  });

  test("lists models, counts tokens and runs a loop of tools", async () => {
    const { url, calls } = await serveSimulated();
    const client = anthropic(url);
    expect((await client.models.list()).data.map(({ id }) => id)).toContain(claude);
    const { input_tokens: counted } = await client.messages.countTokens({
      model: claude,
      messages: hello,
    });
    expect(counted).toBeGreaterThan(0);
    const cities: string[] = [];
    const runner = client.beta.messages.toolRunner({
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
    const last = await runner;
    expect(last.stop_reason).toBe("end_turn");
    expect(cities.length).toBeGreaterThan(0);
    await expect
      .poll(() => calls.filter(({ status }) => status === "complete").length)
      .toBe(cities.length + 1);
  });

  test("sees the provider's own errors", async () => {
    const { url } = await serveSimulated();
    const client = anthropic(url);
    const unknown = client.messages.create({ model: "nope", max_tokens: 1, messages: hello });
    await expect(unknown).rejects.toThrow(NotFoundError);
    await expect(unknown).rejects.toThrow(/not_found_error.*model: nope/);
    const bad = client.messages.create({ model: claude, max_tokens: 1, messages: [] });
    await expect(bad).rejects.toThrow(BadRequestError);
  });
});

test("openai works with either protocol, under either path, streamed or not", async () => {
  const { url, calls } = await serveSimulated();
  for (const baseURL of [`${url}/v1`, `${url}/openai/v1`, `${url}/openai`]) {
    const client = new OpenAI({ baseURL, apiKey: plantedOpenaiKey, maxRetries: 0 });
    const response = await client.responses.create({ model: gpt, input: "hello" });
    const stream = await client.chat.completions.create({
      model: gpt,
      messages: [{ role: "user", content: "hello" }],
      stream: true,
    });
    let text = "";
    for await (const part of stream) text += part.choices[0]?.delta.content ?? "";
    expect(text).toBe(response.output_text);
    const missing = client.responses.create({ model: "nope", input: "hello" });
    await expect(missing).rejects.toThrow(OpenaiNotFound);
  }
  await expect.poll(() => calls.length).toBe(9);
});

describe.each([
  [
    "anthropic",
    (url: string) => createAnthropic({ baseURL: `${url}/v1`, apiKey: plantedKey })(claude),
  ],
  ["openai", (url: string) => createOpenAI({ baseURL: `${url}/v1`, apiKey: plantedKey })(gpt)],
  [
    "openai chat",
    (url: string) => createOpenAI({ baseURL: `${url}/v1`, apiKey: plantedKey }).chat(gpt),
  ],
] as const)("Vercel ai with %s", (_name, modelAt) => {
  test("streams and runs a loop of tools", async () => {
    const { url, served } = await serveSimulated();
    const { textStream } = streamText({ model: modelAt(url), prompt: "hello" });
    let streamed = "";
    for await (const delta of textStream) streamed += delta;
    expect(streamed).toContain("hello");
    const tools = {
      get_weather: tool({
        description: weather.description,
        inputSchema: jsonSchema<{ city: string }>({ ...weather.schema, required: ["city"] }),
        execute: ({ city }) => `sunny in ${city}`,
      }),
    };
    const prompt = "How is the weather?";
    const result = await generateText({
      model: modelAt(url),
      prompt,
      tools,
      stopWhen: isStepCount(9),
    });
    expect(result.finishReason).toBe("stop");
    expect(result.steps.flatMap(({ toolResults }) => toolResults).length).toBeGreaterThan(0);
    expect(served.gateway.state()).toMatchObject({
      exchanges: { open: 0, cut: 0, noAnswer: 0, refused: 0 },
      observer: { faults: 0 },
    });
  });
});
