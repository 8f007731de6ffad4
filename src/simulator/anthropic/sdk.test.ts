// Goal: the official client works against the surface. Method: the surface answers its fetch.
import { Anthropic, BadRequestError, NotFoundError } from "@anthropic-ai/sdk";
import { betaTool } from "@anthropic-ai/sdk/helpers/beta/json-schema";
import { expect, test } from "vitest";
import { createClient, type Client } from "./test-kit.ts";

/** The SDK in front of a client of the surface; it sends its own version and betas. `messages`: how many each request had. */
function sdkFor(client: Client, messages: number[] = []): Anthropic {
  return new Anthropic({
    apiKey: "key",
    maxRetries: 0,
    fetch: async (input, init) => {
      const request = new Request(input, init);
      const url = new URL(request.url);
      client.version = request.headers.get("anthropic-version");
      client.betas = request.headers.get("anthropic-beta")?.split(",") ?? [];
      const bodyText = await request.text();
      if (bodyText !== "") messages.push(messagesIn(bodyText));
      const answer = client.call(request.method, url.pathname, bodyText, url.search);
      return new Response(answer.text, { status: answer.status, headers: { ...answer.headers } });
    },
  });
}

function messagesIn(bodyText: string): number {
  const { messages } = JSON.parse(bodyText) as { readonly messages: readonly unknown[] };
  return messages.length;
}

const ask = {
  model: "claude-opus-5-5",
  max_tokens: 300,
  messages: [{ role: "user" as const, content: "Why is CI red?" }],
};

test("it creates, counts and lists", async () => {
  const client = createClient();
  const sdk = sdkFor(client);
  const message = await sdk.messages.create(ask);
  expect(client.version).toBe("2026-10-21");
  expect(message.content.map(({ type }) => type)).toEqual(["thinking", "text"]);
  const { input_tokens: counted } = await sdk.messages.countTokens({
    model: ask.model,
    messages: ask.messages,
  });
  expect(message.usage.input_tokens).toBe(counted);
  const ids: string[] = [];
  for await (const model of sdk.models.list({ limit: 5 })) ids.push(model.id);
  expect(ids).toContain("claude-haiku-4-5");
  expect((await sdk.models.retrieve("claude-opus-5-5")).line).toBe("opus");
});

test("it puts a stream together as the message it would have got whole", async () => {
  const streamed = await sdkFor(createClient()).messages.stream(ask).finalMessage();
  const whole = await sdkFor(createClient()).messages.create(ask);
  expect(streamed.content).toEqual(whole.content);
  expect(streamed.stop_reason).toBe("end_turn");
  expect(streamed.usage.output_tokens).toBe(whole.usage.output_tokens);
});

test("its tool runner sends only the new results, on a thread", async () => {
  const client = createClient();
  const sent: number[] = [];
  client.answer = ({ turns }) => {
    const done = turns.reduce((sum, { toolResults }) => sum + toolResults.length, 0);
    return done < 3
      ? { parts: [{ kind: "tool use", name: "add", inputJson: `{"n":${done}}` }], stop: "tool use" }
      : { parts: [{ kind: "text", text: `done ${done}` }], stop: "end" };
  };
  const add = betaTool({
    name: "add",
    description: "Adds one.",
    inputSchema: { type: "object", properties: { n: { type: "number" } }, required: ["n"] },
    run: ({ n }) => String(n + 1),
  });
  const final = await sdkFor(client, sent).beta.messages.toolRunner({ ...ask, tools: [add] });
  expect(sent).toEqual([1, 1, 1, 1]);
  expect(final.content).toMatchObject([{ type: "text", text: "done 3" }]);
  expect(client.prompts.at(-1)?.turns.map(({ role }) => role)).toEqual([
    "user",
    "assistant",
    "user",
    "assistant",
    "user",
    "assistant",
    "user",
  ]);
});

test("its error classes fit", async () => {
  const sdk = sdkFor(createClient());
  await expect(sdk.messages.create({ ...ask, model: "claude-ghost" })).rejects.toThrow(
    NotFoundError,
  );
  await expect(sdk.messages.create({ ...ask, max_tokens: -1 })).rejects.toThrow(BadRequestError);
});
