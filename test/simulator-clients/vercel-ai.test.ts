// Goal: Vercel's ai cannot tell the simulator from a provider. Method: it drives it over loopback HTTP.
import { createAmazonBedrock } from "@ai-sdk/amazon-bedrock";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogle } from "@ai-sdk/google";
import { createOpenAI } from "@ai-sdk/openai";
import { APICallError, generateText, isStepCount, jsonSchema, streamText, tool } from "ai";
import { describe, expect, test } from "vitest";
import { plantedKey } from "../../harness/planted-key.ts";
import { createAgent, createScripted, exampleAwsKey } from "../../src/simulator/index.ts";
import { claude, gemini, gpt, manual, oneCall, serve, statusesOf, weather } from "./serve.ts";

/** The pair that AWS prints in its documents, which the simulator takes by default. */
const awsAccess = { region: "us-east-1", ...exampleAwsKey };

/** Those whose errors say when to try again. */
const timed = [
  [
    "anthropic",
    (url: string) => createAnthropic({ baseURL: `${url}/v1`, apiKey: plantedKey })(claude),
  ],
  ["openai", (url: string) => createOpenAI({ baseURL: `${url}/v1`, apiKey: plantedKey })(gpt)],
  [
    "openai chat",
    (url: string) => createOpenAI({ baseURL: `${url}/v1`, apiKey: plantedKey }).chat(gpt),
  ],
  [
    "google",
    (url: string) => createGoogle({ baseURL: `${url}/v1beta`, apiKey: plantedKey })(gemini),
  ],
] as const;

describe.each([
  ...timed,
  [
    "bedrock",
    (url: string) => createAmazonBedrock({ baseURL: url, ...awsAccess })(`us.anthropic.${claude}`),
  ],
] as const)("Vercel ai with %s", (_name, modelAt) => {
  const tools = {
    get_weather: tool({
      description: weather.description,
      inputSchema: jsonSchema<{ city: string }>({ ...weather.schema, required: ["city"] }),
      execute: ({ city }) => `sunny in ${city}`,
    }),
  };

  test("generates text", async () => {
    const { url } = await serve();
    const { text, usage, finishReason } = await generateText({
      model: modelAt(url),
      prompt: "hello",
    });
    expect([text, finishReason]).toEqual(["hello", "stop"]);
    expect(usage.inputTokens).toBeGreaterThan(0);
  });

  test("streams text", async () => {
    const { url } = await serve();
    const { textStream } = streamText({ model: modelAt(url), prompt: "hello" });
    let text = "";
    for await (const delta of textStream) text += delta;
    expect(text).toBe("hello");
  });

  test.each(["generateText", "streamText"])("runs a tool loop with %s", async (how) => {
    const { url } = await serve({ model: createScripted(oneCall) });
    const request = {
      model: modelAt(url),
      prompt: "How is the weather?",
      tools,
      stopWhen: isStepCount(5),
    };
    const result = how === "generateText" ? await generateText(request) : streamText(request);
    expect(await result.text).toBe("It is sunny in Paris.");
    expect((await result.steps).flatMap(({ toolResults }) => toolResults)).toMatchObject([
      { output: "sunny in Paris" },
    ]);
  });

  test("lets the agent drive its tools to an end", async () => {
    const { simulator, url } = await serve({ model: createAgent() });
    const files = { "README.md": "A parser.", "src/parse.ts": "export const parse = 1;" };
    const { steps, text } = await generateText({
      model: modelAt(url),
      prompt: "What is in this project?",
      stopWhen: isStepCount(20),
      tools: {
        list_files: tool({
          inputSchema: jsonSchema<{ path: string }>({ ...pathSchema, required: ["path"] }),
          execute: () => Object.keys(files).join("\n"),
        }),
        read_file: tool({
          inputSchema: jsonSchema<{ path: string }>({ ...pathSchema, required: ["path"] }),
          execute: ({ path }) => Object.entries(files).find(([name]) => path.endsWith(name))?.[1],
        }),
      },
    });
    expect(steps).toHaveLength(7);
    expect(text).toContain("I took 6 steps with tools.");
    expect(new Set(statusesOf(simulator))).toEqual(new Set([200]));
  });

  test("sees failures as its own, and whether to try again", async () => {
    const { url } = await serve({ faults: [{ kind: "server error" }, { kind: "overflow" }] });
    const ask = (): Promise<unknown> =>
      generateText({ model: modelAt(url), prompt: "hello", maxRetries: 0 }).catch(
        (error: unknown) => error,
      );
    const [broken, tooLong] = [await ask(), await ask()];
    expect(APICallError.isInstance(broken) && broken.isRetryable).toBe(true);
    expect(APICallError.isInstance(tooLong) && [tooLong.statusCode, tooLong.isRetryable]).toEqual([
      400,
      false,
    ]);
  });
});

const pathSchema = {
  type: "object",
  properties: { path: { type: "string" } },
  required: ["path"],
} as const;

test.each(timed)(
  "Vercel ai with %s tries again after the time in the error",
  async (_name, modelAt) => {
    const { simulator, url } = await serve({
      faults: [{ kind: "rate limited", retryAfterSeconds: 1 }],
    });
    const start = performance.now();
    const { text } = await generateText({ model: modelAt(url), prompt: "hello" });
    expect(text).toBe("hello");
    expect(performance.now() - start).toBeGreaterThan(990);
    expect(statusesOf(simulator)).toEqual([429, 200]);
  },
);

describe("Vercel ai's markers", () => {
  test("of Anthropic make the second call read", async () => {
    const { url } = await serve();
    const ask = async (question: string): Promise<number | undefined> => {
      const { usage } = await generateText({
        model: createAnthropic({ baseURL: `${url}/v1`, apiKey: plantedKey })(claude),
        messages: [
          {
            role: "user",
            content: [
              {
                type: "text",
                text: manual,
                providerOptions: { anthropic: { cacheControl: { type: "ephemeral" } } },
              },
              { type: "text", text: question },
            ],
          },
        ],
      });
      return usage.inputTokenDetails.cacheReadTokens;
    };
    expect(await ask("Where?")).toBe(0);
    expect(await ask("And why?")).toBeGreaterThan(2000);
  });

  test("of Bedrock make the second call read", async () => {
    const { url } = await serve();
    const model = createAmazonBedrock({ baseURL: url, ...awsAccess })(`us.anthropic.${claude}`);
    const cachePoint = {
      bedrock: { cachePoint: { type: "default" as const, ttl: "1h" as const } },
    };
    const ask = async (question: string): Promise<number | undefined> => {
      const { usage } = await generateText({
        model,
        instructions: { role: "system", content: manual, providerOptions: cachePoint },
        prompt: question,
      });
      return usage.inputTokenDetails.cacheReadTokens;
    };
    expect(await ask("Where?")).toBe(0);
    expect(await ask("And why?")).toBeGreaterThan(2000);
  });

  test("are not needed with OpenAI: a conversation that goes on reads what it sent", async () => {
    const { url } = await serve();
    const model = createOpenAI({ baseURL: `${url}/v1`, apiKey: plantedKey })(gpt);
    const first = [{ role: "user" as const, content: manual }];
    await generateText({ model, messages: first });
    const { usage } = await generateText({
      model,
      messages: [
        ...first,
        { role: "assistant" as const, content: "Understood." },
        { role: "user" as const, content: "Go on." },
      ],
    });
    expect(usage.inputTokenDetails.cacheReadTokens).toBeGreaterThan(1024);
  });
});
