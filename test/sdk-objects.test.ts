// Goal: people who keep their SDK can send what we plan. Method: the official SDKs take the request as an
// object, call the simulator with it, and their usage is what the plan expected.
import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI, type Content } from "@google/genai";
import OpenAI from "openai";
import { expect, onTestFinished, test } from "vitest";
import { plantedKey } from "../harness/planted-key.ts";
import { assemble, type Assembly } from "../src/core/assembly/assemble.ts";
import { buildFoundation } from "../src/core/assembly/foundation.ts";
import { openThread } from "../src/core/assembly/thread.ts";
import type { CachePlan } from "../src/core/cache/cache-plan.ts";
import { openCacheState } from "../src/core/cache/cache-state.ts";
import { openPace } from "../src/core/cache/pace.ts";
import { planCache } from "../src/core/cache/plan-cache.ts";
import { findPolicy } from "../src/core/cache/policies.ts";
import { toToolDefinition } from "../src/core/message/tool-definition.ts";
import { resolveModel } from "../src/core/models/resolve-model.ts";
import { lengthCounter } from "../src/core/tokens/token-counter.ts";
import { anthropicMessages } from "../src/core/wire/anthropic-messages/index.ts";
import { gemini } from "../src/core/wire/gemini/index.ts";
import { openaiChat } from "../src/core/wire/openai/chat/index.ts";
import { openaiResponses } from "../src/core/wire/openai/responses/index.ts";
import type { Protocol } from "../src/core/wire/protocol.ts";
import { createSimulator } from "../src/simulator/index.ts";

const { layout, markers } = findPolicy("adaptive");

interface Planned<Body> {
  readonly body: Body;
  readonly assembly: Assembly;
  readonly plan: CachePlan;
}

function planned<Body>(
  protocol: Protocol<string, Body>,
  modelName: string,
  length = 200,
): Planned<Body> {
  const { facts } = resolveModel(modelName);
  const tools = [
    toToolDefinition({ name: "look", description: "Looks.", inputSchema: { type: "object" } }),
  ];
  const text = "Answer briefly and check what you say. ".repeat(length);
  const system = [{ label: "static", tier: "T1" as const, text }];
  const spelling = protocol.spelling(facts);
  const foundation = buildFoundation({
    tools,
    system,
    spelling,
    counter: lengthCounter,
    model: facts,
  });
  const assembly = assemble({
    thread: openThread(foundation),
    current: [{ role: "user", content: [{ type: "text", text: "Hello." }] }],
    volatile: "It is noon.",
    layout,
    model: facts,
  });
  const [state, pace] = [openCacheState(), openPace("human")];
  const plan = planCache({
    blocks: assembly.blocks,
    rules: facts,
    markers,
    state,
    pace,
    now: 1_800_000_000_000,
  });
  const options = { outputTokensMax: 200, stream: false };
  const request = protocol.encode({ assembly, plan, model: facts, options });
  return { body: request.toObject(), assembly, plan };
}

test("the Anthropic SDK sends the planned object, twice, and the second reads what the first wrote", async () => {
  const simulator = createSimulator({ seed: 1 });
  const client = new Anthropic({
    apiKey: plantedKey,
    baseURL: "http://localhost",
    fetch: simulator.fetch,
  });
  const { body, plan } = planned(anthropicMessages, "claude-sonnet-4-6");
  const send = (): Promise<Anthropic.Message> => client.messages.create({ ...body, stream: false });
  const first = await send();
  const second = await send();
  expect(plan.markers.map(({ slot }) => slot)).toEqual(["head", "tail"]);
  expect(first.usage.cache_creation_input_tokens).toBeGreaterThan(1024);
  expect(second.usage.cache_read_input_tokens).toBe(first.usage.cache_creation_input_tokens);
});

test("the OpenAI SDK sends the planned objects to both of its APIs", async () => {
  const simulator = createSimulator({ seed: 1 });
  const client = new OpenAI({
    apiKey: plantedKey,
    baseURL: "http://localhost/v1",
    fetch: simulator.fetch,
  });
  const chat = { ...planned(openaiChat, "gpt-6.1-sol").body, stream: false as const };
  const responses = {
    ...planned(openaiResponses, "gpt-6.1-sol").body,
    stream: false as const,
  };
  await client.chat.completions.create(chat);
  const { usage } = await client.chat.completions.create(chat);
  await client.responses.create(responses);
  const again = await client.responses.create(responses);
  expect(usage?.prompt_tokens_details?.cached_tokens).toBeGreaterThan(1024);
  expect(again.usage?.input_tokens_details.cached_tokens).toBeGreaterThan(1024);
});

test("the Google SDK sends the members of the planned object, and the second call reads the first one's prefix", async () => {
  const server = await createSimulator({ seed: 1 }).listen({ port: 0 });
  onTestFinished(() => server.close());
  const client = new GoogleGenAI({ apiKey: plantedKey, httpOptions: { baseUrl: server.url } });
  const model = "gemini-3.8-flash";
  const { body } = planned(gemini, model, 800);
  const contents: Content[] = body.contents;
  const { systemInstruction = { parts: [] }, tools = [], generationConfig } = body;
  const config = { systemInstruction, tools, ...generationConfig };
  const send = () => client.models.generateContent({ model, contents, config });
  await send();
  const { usageMetadata } = await send();
  expect(usageMetadata?.cachedContentTokenCount).toBeGreaterThan(4096);
});

// The types do the work: a line fails to compile if an SDK would not take the object without a cast.
test("each protocol's body has the type of its SDK's requests", () => {
  const message: Anthropic.MessageCreateParamsNonStreaming = {
    ...planned(anthropicMessages, "claude-sonnet-4-6").body,
    stream: false,
  };
  const completion: OpenAI.ChatCompletionCreateParamsStreaming = {
    ...planned(openaiChat, "gpt-6.1-sol").body,
    stream: true,
  };
  const response: OpenAI.Responses.ResponseCreateParamsNonStreaming = {
    ...planned(openaiResponses, "gpt-6.1-sol").body,
    stream: false,
  };
  expect(message.max_tokens).toBe(200);
  expect(completion.messages.map(({ role }) => role)).toEqual(["developer", "user", "developer"]);
  expect(response.input).toHaveLength(3);
});
