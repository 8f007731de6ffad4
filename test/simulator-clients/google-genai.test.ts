// Goal: @google/genai cannot tell the simulator from a provider. Method: it drives it over loopback HTTP.
import {
  ApiError,
  FunctionCallingConfigMode,
  GoogleGenAI,
  Type,
  type Content,
  type GenerateContentResponse,
  type GoogleGenAIOptions,
  type Tool,
} from "@google/genai";
import { expect, test } from "vitest";
import { plantedKey } from "../../harness/planted-key.ts";
import { createScripted, type ScriptStep } from "../../src/simulator/index.ts";
import { gemini, manual, oneCall, serve, statusesOf, weather } from "./serve.ts";

type AuthClient = NonNullable<NonNullable<GoogleGenAIOptions["googleAuthOptions"]>["authClient"]>;

const getRequestHeaders = (): Promise<Headers> =>
  Promise.resolve(new Headers({ authorization: `Bearer ${plantedKey}` }));
const authClient = { getRequestHeaders } as unknown as AuthClient;

function connect(url: string, apiKey: string = plantedKey): GoogleGenAI {
  return new GoogleGenAI({ apiKey, httpOptions: { baseUrl: url } });
}

const tools: Tool[] = [
  {
    functionDeclarations: [
      {
        name: weather.name,
        description: weather.description,
        parameters: {
          type: Type.OBJECT,
          properties: { city: { type: Type.STRING } },
          required: ["city"],
        },
      },
    ],
  },
];
const sunny = { name: weather.name, response: { output: "sunny" } };
const thinking: readonly ScriptStep[] = [
  { thinking: "They greet me.", text: "Hello to you, and to all who read this.", times: "always" },
];
/** Long enough to be stored and to be cached without being asked. */
const book = manual.repeat(3);

async function collect(
  stream: AsyncIterable<GenerateContentResponse>,
): Promise<readonly GenerateContentResponse[]> {
  const chunks: GenerateContentResponse[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return chunks;
}

test("generates content, whole and as a stream", async () => {
  const { url } = await serve({ model: createScripted(thinking) });
  const { models } = connect(url);
  const request = {
    model: gemini,
    contents: "hello",
    config: { thinkingConfig: { includeThoughts: true } },
  };
  const whole = await models.generateContent(request);
  expect(whole.text).toBe("Hello to you, and to all who read this.");
  expect(whole.candidates?.[0]?.finishReason).toBe("STOP");
  expect(whole.candidates?.[0]?.content?.parts?.[0]).toEqual({
    text: "They greet me.",
    thought: true,
  });
  const chunks = await collect(await models.generateContentStream(request));
  expect(chunks.map(({ text }) => text ?? "").join("")).toBe(whole.text);
  expect(chunks.at(-1)?.usageMetadata).toEqual(whole.usageMetadata);
  expect(chunks.every(({ usageMetadata }) => usageMetadata?.promptTokenCount === 9)).toBe(true);
});

test("runs a tool loop in a chat, which sends signatures back", async () => {
  const { simulator, url } = await serve({ model: createScripted(oneCall) });
  const chat = connect(url).chats.create({ model: gemini, config: { tools } });
  const first = await chat.sendMessage({ message: "How is the weather?" });
  const [call] = first.functionCalls ?? [];
  expect(call).toMatchObject({ name: "get_weather", args: { city: "Paris" } });
  const [part] = first.candidates?.[0]?.content?.parts ?? [];
  expect(part?.thoughtSignature).toMatch(/^[\w+/]+=*$/);
  const id = call?.id ?? "";
  const second = await chat.sendMessage({ message: [{ functionResponse: { ...sunny, id } }] });
  expect(second.text).toBe("It is sunny in Paris.");
  expect(statusesOf(simulator)).toEqual([200, 200]);
});

test("runs a tool loop over streams too", async () => {
  const { simulator, url } = await serve({ model: createScripted(oneCall) });
  const chat = connect(url).chats.create({ model: gemini, config: { tools } });
  const chunks = await collect(await chat.sendMessageStream({ message: "How is the weather?" }));
  const call = chunks.flatMap(({ functionCalls }) => functionCalls ?? [])[0];
  const message = [{ functionResponse: { ...sunny, id: call?.id ?? "" } }];
  const answer = await collect(await chat.sendMessageStream({ message }));
  expect(answer.map(({ text }) => text ?? "").join("")).toBe("It is sunny in Paris.");
  expect(statusesOf(simulator)).toEqual([200, 200]);
});

test("is refused when a function call comes back without its signature", async () => {
  const { url } = await serve({ model: createScripted(oneCall) });
  const { models } = connect(url);
  const question: Content = { role: "user", parts: [{ text: "How is the weather?" }] };
  const { functionCalls } = await models.generateContent({
    model: gemini,
    contents: [question],
    config: { tools },
  });
  const stripped: Content = {
    role: "model",
    parts: (functionCalls ?? []).map((functionCall) => ({ functionCall })),
  };
  const answer: Content = { role: "user", parts: [{ functionResponse: sunny }] };
  const failure = await models
    .generateContent({ model: gemini, contents: [question, stripped, answer], config: { tools } })
    .catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(ApiError);
  expect(failure).toMatchObject({ status: 400 });
  expect(String(failure)).toContain("Function call is missing a thought_signature");
});

test("forces a function", async () => {
  const { url } = await serve();
  const calling = {
    mode: FunctionCallingConfigMode.ANY,
    allowedFunctionNames: [weather.name],
  };
  const { functionCalls } = await connect(url).models.generateContent({
    model: gemini,
    contents: "hello",
    config: { tools, toolConfig: { functionCallingConfig: calling } },
  });
  expect(functionCalls?.[0]?.name).toBe(weather.name);
});

test("counts what it is then billed for", async () => {
  const { url } = await serve();
  const { models } = connect(url);
  const { totalTokens } = await models.countTokens({ model: gemini, contents: book });
  const { usageMetadata } = await models.generateContent({ model: gemini, contents: book });
  expect(usageMetadata?.promptTokenCount).toBe(totalTokens);
});

test("reads a long prefix on the second call without being asked", async () => {
  const { url } = await serve();
  const ask = async (contents: string): Promise<number | undefined> => {
    const config = { systemInstruction: book };
    const { usageMetadata } = await connect(url).models.generateContent({
      model: gemini,
      contents,
      config,
    });
    return usageMetadata?.cachedContentTokenCount;
  };
  expect(await ask("Where is the parser?")).toBeUndefined();
  expect(await ask("And where are its tests?")).toBeGreaterThan(4_096);
});

test("creates, reads, lists, keeps and deletes a stored prefix", async () => {
  const { simulator, url } = await serve({ clock: "virtual" });
  const { caches, models } = connect(url);
  const created = await caches.create({
    model: gemini,
    config: { displayName: "book", systemInstruction: book, tools, ttl: "600s" },
  });
  const { name = "", usageMetadata } = created;
  expect(name).toMatch(/^cachedContents\/\w+$/);
  expect(usageMetadata?.totalTokenCount).toBeGreaterThan(4_096);
  const request = { model: gemini, contents: "Where?", config: { cachedContent: name } };
  const { usageMetadata: usage } = await models.generateContent(request);
  expect(usage?.cachedContentTokenCount).toBe(usageMetadata?.totalTokenCount);

  expect(await caches.get({ name })).toMatchObject({ name, displayName: "book" });
  const listed: (string | undefined)[] = [];
  for await (const each of await caches.list()) listed.push(each.name);
  expect(listed).toEqual([name]);

  await simulator.clock.advance(500_000);
  const kept = await caches.update({ name, config: { ttl: "3600s" } });
  expect(Date.parse(kept.expireTime ?? "")).toBe(simulator.clock.now() + 3_600_000);
  await simulator.clock.advance(1_300_000);
  await caches.delete({ name });
  await expect(caches.get({ name })).rejects.toMatchObject({ status: 403 });
  await expect(models.generateContent(request)).rejects.toThrow(
    "CachedContent not found (or permission denied)",
  );

  // Half an hour at $0.50 per million tokens and hour.
  const tokens = usageMetadata?.totalTokenCount ?? 0;
  const [stored] = simulator.billing.stored.views(simulator.clock.now());
  expect(stored).toMatchObject({ name, tokens, state: "removed", billedMs: 1_800_000 });
  expect(Number(stored?.costUsd?.slice(1))).toBeCloseTo((tokens * 0.25) / 1e6, 12);
});

test("stores a prefix on Vertex, below its project and location", async () => {
  const { url } = await serve();
  const { caches, models } = new GoogleGenAI({
    vertexai: true,
    project: "my-project",
    location: "europe-west4",
    googleAuthOptions: { authClient },
    httpOptions: { baseUrl: url },
  });
  const config = { systemInstruction: book, ttl: "600s" };
  const { name = "", usageMetadata } = await caches.create({ model: gemini, config });
  expect(name).toMatch(/^projects\/\d{12}\/locations\/europe-west4\/cachedContents\/\w+$/);
  const request = { model: gemini, contents: "Where?", config: { cachedContent: name } };
  const { usageMetadata: usage } = await models.generateContent(request);
  expect(usage?.cachedContentTokenCount).toBe(usageMetadata?.totalTokenCount);
  const listed: (string | undefined)[] = [];
  for await (const each of await caches.list()) listed.push(each.name);
  expect(listed).toEqual([name]);
  expect(await caches.update({ name, config: { ttl: "3600s" } })).toMatchObject({ name });
  await caches.delete({ name });
  await expect(caches.get({ name })).rejects.toMatchObject({ status: 404 });
});

test("lists models and shows one", async () => {
  const { url } = await serve();
  const { models } = connect(url);
  const names: (string | undefined)[] = [];
  for await (const { name } of await models.list()) names.push(name);
  expect(names).toContain(`models/${gemini}`);
  expect(await models.get({ model: gemini })).toMatchObject({ inputTokenLimit: 1_048_576 });
});

test("speaks to Vertex with a key", async () => {
  const { simulator, url } = await serve();
  const { models } = new GoogleGenAI({
    vertexai: true,
    apiKey: plantedKey,
    httpOptions: { baseUrl: url },
  });
  expect((await models.generateContent({ model: gemini, contents: "hello" })).text).toBe("hello");
  expect(simulator.calls()[0]?.path).toContain("/publishers/google/models/");
});

test("throws its own error for an unknown model, an unknown field and no key", async () => {
  const { url } = await serve();
  const { models } = connect(url);
  const wrong = { maxOutputTokens: -1 };
  const failures = [
    models.generateContent({ model: "gemini-0", contents: "hello" }),
    models.generateContent({ model: gemini, contents: "hello", config: wrong }),
  ];
  const found = await Promise.all(failures.map((each) => each.catch((error: unknown) => error)));
  expect(found.map((error) => error instanceof ApiError && error.status)).toEqual([404, 400]);
  const answered = await fetch(`${url}/v1beta/models/${gemini}:generateContent`, {
    method: "POST",
    body: "{}",
  });
  expect(answered.status).toBe(403);
});

test.each([
  ["rate limited", 429, "RESOURCE_EXHAUSTED"],
  ["server error", 500, "INTERNAL"],
  ["overloaded", 503, "UNAVAILABLE"],
  ["overflow", 400, "exceeds the maximum number of tokens allowed"],
] as const)("throws its own error when it is %s", async (kind, status, text) => {
  const { url } = await serve({ faults: [{ kind }] });
  const failure = await connect(url)
    .models.generateContent({ model: gemini, contents: "hello" })
    .catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(ApiError);
  expect(failure).toMatchObject({ status });
  expect(String(failure)).toContain(text);
});

test.each(["cut", "malformed"] as const)("notices a stream that is %s", async (kind) => {
  const { simulator, url } = await serve({
    model: createScripted(thinking),
    faults: [{ kind, afterEvents: 1 }],
  });
  const stream = await connect(url).models.generateContentStream({
    model: gemini,
    contents: "hello",
  });
  await expect(collect(stream)).rejects.toThrow(/terminated|JSON|incomplete|connection/i);
  expect(simulator.calls()[0]).toMatchObject({ outcome: "cut", fault: kind });
});
