// The official SDKs through the observer: what they were told is what it saw. Method: an SDK's own `fetch` is watched.
import Anthropic from "@anthropic-ai/sdk";
import { betaTool } from "@anthropic-ai/sdk/helpers/beta/json-schema";
import OpenAI from "openai";
import { expect, test } from "vitest";
import { plantedKey } from "../../../harness/planted-key.ts";
import { onlyPresent } from "../../core/message/fields.ts";
import { createSimulator, type SimulatorOptions } from "../../simulator/index.ts";
import { startWatching, textOf, type Watching } from "./test-kit.ts";

const question = { role: "user" as const, content: `What is this? ${textOf(1500)}` };

/** A simulator whose exchanges are watched as they would pass a gateway. */
function watched(
  watching: Watching,
  upstream: string,
  model?: SimulatorOptions["model"],
): typeof fetch {
  const simulator = createSimulator({ seed: 1, ...onlyPresent({ model }) });
  return async (input, init) => {
    const request = new Request(input, init);
    const body = await request.clone().text();
    const answer = await simulator.fetch(request);
    const copy = answer.clone();
    const headers = Object.fromEntries(request.headers);
    watching.pass({
      path: new URL(request.url).pathname,
      headers: { ...headers, authorization: "", "x-api-key": "" },
      body,
      upstream,
      status: answer.status,
      answerHeaders: Object.fromEntries(copy.headers),
      answer: new Uint8Array(await copy.arrayBuffer()),
      pieceBytes: 300,
    });
    return answer;
  };
}

test("the Anthropic SDK: whole, streamed and counted", async () => {
  const watching = startWatching();
  const client = new Anthropic({
    apiKey: plantedKey,
    baseURL: "http://127.0.0.1",
    fetch: watched(watching, "anthropic"),
  });
  const asked = {
    model: "claude-sonnet-4-6",
    max_tokens: 200,
    cache_control: { type: "ephemeral" as const },
    messages: [question],
  };
  const whole = await client.messages.create(asked);
  const streamed = await client.messages.stream(asked).finalMessage();
  await client.messages.countTokens({ model: asked.model, messages: asked.messages });
  expect(watching.calls.map(({ replyId }) => replyId)).toEqual([whole.id, streamed.id]);
  for (const [index, { usage, stop_reason: stopReason }] of [whole, streamed].entries()) {
    expect(watching.calls[index]).toMatchObject({
      status: "complete",
      stopReason,
      conversation: { client: "anthropic-sdk", callNumber: index + 1 },
      usage: { cacheReadTokens: usage.cache_read_input_tokens, outputTokens: usage.output_tokens },
    });
  }
  expect(streamed.usage.cache_read_input_tokens).toBeGreaterThan(1024);
  expect(watching.calls[1]?.explanation?.cause).toBe("no miss");
});

test("the Anthropic SDK's tool runner sends only what is new, and its calls are one conversation", async () => {
  const watching = startWatching();
  const client = new Anthropic({
    apiKey: plantedKey,
    baseURL: "http://127.0.0.1",
    fetch: watched(watching, "anthropic", ({ turns }) => {
      const isDone = turns.some(({ toolResults }) => toolResults.length > 0);
      return isDone
        ? { parts: [{ kind: "text", text: "Three." }], stop: "end" }
        : { parts: [{ kind: "tool use", name: "add", inputJson: "{}" }], stop: "tool use" };
    }),
  });
  const add = betaTool({
    name: "add",
    description: "Adds one.",
    inputSchema: { type: "object", properties: {} },
    run: () => "3",
  });
  const cached = { cache_control: { type: "ephemeral" as const } };
  const asked = { model: "claude-sonnet-4-6", max_tokens: 200, messages: [question], tools: [add] };
  const final = await client.beta.messages.toolRunner({ ...asked, ...cached });
  const [first, second] = watching.calls;
  expect(watching.calls.map(({ conversation }) => conversation.callNumber)).toEqual([1, 2]);
  expect(second?.conversation.id).toBe(first?.conversation.id);
  expect(second?.usage).toMatchObject({
    cacheReadTokens: final.usage.cache_read_input_tokens,
    outputTokens: final.usage.output_tokens,
  });
  expect(final.usage.cache_read_input_tokens).toBeGreaterThan(1024);
  expect(second?.notes).toEqual([
    "it goes on from a history that only the provider has: nothing to compare",
  ]);
});

test("the OpenAI SDK: Chat Completions and Responses, whole and streamed", async () => {
  const watching = startWatching();
  const client = new OpenAI({
    apiKey: plantedKey,
    baseURL: "http://127.0.0.1/v1",
    fetch: watched(watching, "openai"),
  });
  const model = "gpt-5.5";
  const chat = await client.chat.completions.create({ model, messages: [question] });
  const chunks = await client.chat.completions.create({
    model,
    messages: [question],
    stream: true,
    stream_options: { include_usage: true },
  });
  let told = 0;
  for await (const { usage } of chunks) told = usage?.completion_tokens ?? told;
  const response = await client.responses.create({ model, input: [question] });
  const events = await client.responses.create({ model, input: [question], stream: true });
  let last = "";
  for await (const event of events)
    if (event.type === "response.completed") last = event.response.id;
  const seen = watching.calls.map(({ protocol, status, replyId }) => [protocol, status, replyId]);
  expect(seen[0]).toEqual(["openai-chat", "complete", chat.id]);
  expect(seen[1]?.slice(0, 2)).toEqual(["openai-chat", "complete"]);
  expect(seen[2]).toEqual(["openai-responses", "complete", response.id]);
  expect(seen[3]).toEqual(["openai-responses", "complete", last]);
  const [, streamed] = watching.calls;
  expect((streamed?.usage?.outputTokens ?? 0) + (streamed?.usage?.reasoningTokens ?? 0)).toBe(told);
  expect(watching.calls.every(({ conversation }) => conversation.client === "openai-sdk")).toBe(
    true,
  );
});
