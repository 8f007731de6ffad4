// Valid samples to start from: requests of every protocol, and what the simulator answers to them.
import { createAgent, createSimulator } from "../../src/simulator/index.ts";
import type { Json } from "./mutate.ts";

const tool = {
  name: "read",
  description: "Reads a file",
  input_schema: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
};

const anthropicRequest: Json = {
  model: "claude-sonnet-5-5",
  max_tokens: 200,
  stream: false,
  temperature: 1,
  system: [
    {
      type: "text",
      text: "Be brief. ".repeat(40),
      cache_control: { type: "ephemeral", ttl: "1h" },
    },
  ],
  tools: [tool],
  tool_choice: { type: "auto" },
  metadata: { user_id: "u1" },
  messages: [
    { role: "user", content: "What is here?" },
    {
      role: "assistant",
      content: [
        { type: "text", text: "I look." },
        {
          type: "tool_use",
          id: "toolu_1",
          name: "read",
          input: { path: "a.ts", "2": 0, "1": 1.5 },
        },
      ],
    },
    {
      role: "user",
      content: [
        {
          type: "tool_result",
          tool_use_id: "toolu_1",
          content: [{ type: "text", text: "one" }],
          cache_control: { type: "ephemeral" },
        },
        {
          type: "image",
          source: { type: "base64", media_type: "image/png", data: "iVBORw0KGgo=" },
        },
        { type: "text", text: "And now, on 2026-11-17 10:00:00?" },
      ],
    },
  ],
};

const chatRequest: Json = {
  model: "gpt-5.5",
  max_completion_tokens: 200,
  stream: false,
  prompt_cache_key: "k1",
  messages: [
    { role: "system", content: "Be brief. ".repeat(40) },
    { role: "user", content: [{ type: "text", text: "What is here?" }] },
    {
      role: "assistant",
      content: null,
      tool_calls: [
        {
          id: "call_1",
          type: "function",
          function: { name: "read", arguments: '{"path":"a.ts"}' },
        },
      ],
    },
    { role: "tool", tool_call_id: "call_1", content: "one" },
    { role: "user", content: "And now?" },
  ],
  tools: [
    {
      type: "function",
      function: { name: "read", description: "Reads", parameters: tool.input_schema },
    },
  ],
};

const responsesRequest: Json = {
  model: "gpt-5.5",
  max_output_tokens: 200,
  stream: false,
  store: false,
  instructions: "Be brief. ".repeat(40),
  reasoning: { effort: "low" },
  input: [
    { role: "user", content: [{ type: "input_text", text: "What is here?" }] },
    { type: "function_call", call_id: "call_1", name: "read", arguments: '{"path":"a.ts"}' },
    { type: "function_call_output", call_id: "call_1", output: "one" },
    { role: "user", content: "And now?" },
  ],
  tools: [
    {
      type: "function",
      name: "read",
      description: "Reads",
      parameters: tool.input_schema,
      strict: false,
    },
  ],
};

export interface SampleProtocol {
  readonly name: "anthropic-messages" | "openai-chat" | "openai-responses";
  readonly path: string;
  readonly request: Json;
}

export const sampleProtocols: readonly SampleProtocol[] = [
  { name: "anthropic-messages", path: "/v1/messages", request: anthropicRequest },
  { name: "openai-chat", path: "/v1/chat/completions", request: chatRequest },
  { name: "openai-responses", path: "/v1/responses", request: responsesRequest },
];

export const sampleHeaders: Readonly<Record<string, string>> = {
  "content-type": "application/json",
  "anthropic-version": "2023-06-01",
  "x-api-key": "none needed",
  authorization: "Bearer none needed",
};

export interface SampleAnswer {
  readonly protocol: SampleProtocol;
  /** The body of a whole reply, and of the same as a stream. */
  readonly reply: Json;
  readonly stream: string;
}

/** With a tool use in each: the simulated agent reads a file first. */
export async function sampleAnswers(): Promise<readonly SampleAnswer[]> {
  const simulator = createSimulator({
    seed: 1,
    clock: "virtual",
    model: createAgent({ steps: 2 }),
  });
  const ask = async (protocol: SampleProtocol, stream: boolean): Promise<string> => {
    const body = JSON.stringify({ ...(protocol.request as object), stream });
    const url = `http://127.0.0.1${protocol.path}`;
    const answer = await simulator.fetch(url, { method: "POST", headers: sampleHeaders, body });
    const text = await answer.text();
    if (answer.status !== 200) throw new Error(`a sample was refused: ${text}`);
    return text;
  };
  return Promise.all(
    sampleProtocols.map(async (protocol) => ({
      protocol,
      reply: JSON.parse(await ask(protocol, false)),
      stream: await ask(protocol, true),
    })),
  );
}
