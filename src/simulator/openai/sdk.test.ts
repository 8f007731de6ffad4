// Goal: the official client works against the surface. Method: the surface answers its fetch.
import { NotFoundError, OpenAI } from "openai";
import { describe, expect, test } from "vitest";
import type { Prompt, Reply } from "../prompt.ts";
import { createKit, words, type Kit } from "./test-kit.ts";

function clientOf(kit: Kit): OpenAI {
  return new OpenAI({
    apiKey: "sk-test",
    baseURL: "http://simulator/v1",
    maxRetries: 0,
    fetch: async (url, init) => {
      const { pathname } = new URL(url instanceof Request ? url.url : url);
      const isPost = init?.method?.toUpperCase() === "POST";
      const reply = isPost ? kit.post(pathname, init?.body) : kit.get(pathname);
      return new Response(reply.text, { status: reply.status, headers: { ...reply.headers } });
    },
  });
}

/** Calls a tool once, then repeats its result. */
function callsOnce({ turns }: Prompt): Reply {
  const result = turns.at(-1)?.toolResults[0];
  if (result !== undefined) return { parts: [{ kind: "text", text: result.text }], stop: "end" };
  const call = { kind: "tool use", name: "read", inputJson: '{"path":"a.ts"}' } as const;
  return { parts: [{ kind: "thinking", text: "Look." }, call], stop: "tool use" };
}

const model = "gpt-6.1-sol";

describe("chat", () => {
  test("streams text and usage", async () => {
    const stream = clientOf(createKit()).chat.completions.stream({
      model,
      messages: [{ role: "user", content: "Hello there" }],
      stream_options: { include_usage: true },
    });
    const completion = await stream.finalChatCompletion();
    expect(completion.choices[0]?.message.content).toBe("You said: Hello there");
    expect(completion.usage?.total_tokens).toBe(14);
  });

  test("runs a tool loop", async () => {
    const kit = createKit();
    kit.answer = callsOnce;
    const runner = clientOf(kit).chat.completions.runTools({
      model,
      messages: [{ role: "user", content: "Read a.ts" }],
      tools: [
        {
          type: "function",
          function: {
            name: "read",
            description: "Reads a file",
            parameters: { type: "object", properties: { path: { type: "string" } } },
            function: (input: string) => `content for ${input}`,
          },
        },
      ],
    });
    expect(await runner.finalContent()).toBe('content for {"path":"a.ts"}');
  });
});

describe("responses", () => {
  test("streams a tool call and goes on from the previous response", async () => {
    const kit = createKit();
    kit.answer = callsOnce;
    const client = clientOf(kit);
    const parameters = { type: "object", properties: { path: { type: "string" } } };
    const tools = [{ type: "function" as const, name: "read", parameters, strict: false }];
    const start = { model, tools, instructions: words("a", 1500) };
    const stream = client.responses.stream({ ...start, input: "Read a.ts" });
    const first = await stream.finalResponse();
    const call = first.output.find((item) => item.type === "function_call");
    expect(call).toMatchObject({
      name: "read",
      parsed_arguments: null,
      arguments: '{"path":"a.ts"}',
    });
    const second = await client.responses.create({
      ...start,
      previous_response_id: first.id,
      input: [{ type: "function_call_output", call_id: call?.call_id ?? "", output: "text" }],
    });
    expect(second.output_text).toBe("text");
    expect(second.usage?.input_tokens_details.cached_tokens).toBe(
      first.usage?.input_tokens_details.cache_write_tokens,
    );
  });

  test("counts, compacts and lists", async () => {
    const client = clientOf(createKit());
    const input = [{ role: "user" as const, content: "Hi" }];
    expect(await client.responses.inputTokens.count({ model, input })).toMatchObject({
      object: "response.input_tokens",
      input_tokens: 8,
    });
    const compacted = await client.responses.compact({ model, input });
    expect(compacted.output.map(({ type }) => type)).toEqual(["message", "compaction"]);
    const ids: string[] = [];
    for await (const { id } of client.models.list()) ids.push(id);
    expect(ids).toContain(model);
  });

  test("sees its own error classes", async () => {
    const client = clientOf(createKit());
    const refused = client.responses.create({ model: "gpt-9", input: "x" });
    await expect(refused).rejects.toThrow(NotFoundError);
    await expect(refused).rejects.toMatchObject({
      code: "model_not_found",
      requestID: expect.stringMatching(/^req_/),
    });
  });
});
