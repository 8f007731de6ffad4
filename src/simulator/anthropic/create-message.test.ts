// Goal: the everyday path. Method: call the routes as the server does and read what a client would.
import { expect, test } from "vitest";
import { buckets, createClient, marked, text, tool, words, type Any } from "./test-kit.ts";

const model = "claude-sonnet-4-6";

function eventsOf(stream: string): Any[] {
  return stream
    .trim()
    .split("\n\n")
    .map((event) => {
      const [name = "", data = ""] = event.split("\n");
      const parsed: Any = JSON.parse(data.slice("data: ".length));
      expect(`event: ${parsed.type}`).toBe(name);
      return parsed;
    });
}

test("a message comes back with content, usage and the headers of the provider", () => {
  const client = createClient();
  const { status, headers, body } = client.create({
    model,
    max_tokens: 100,
    messages: [{ role: "user", content: "Why is CI red?" }],
  });
  expect(status).toBe(200);
  expect(body).toEqual({
    id: "msg_2",
    type: "message",
    role: "assistant",
    model,
    content: [{ type: "text", text: "Why is CI red?" }],
    stop_reason: "end_turn",
    stop_sequence: null,
    container: null,
    stop_details: null,
    usage: {
      input_tokens: body.usage.input_tokens,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
      cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
      output_tokens: body.usage.output_tokens,
      output_tokens_details: null,
      server_tool_use: null,
      service_tier: "standard",
      speed: "standard",
      inference_geo: null,
    },
  });
  expect(body.usage.output_tokens).toBeGreaterThan(3);
  expect(headers["request-id"]).toBe("req_1");
  expect(headers["content-type"]).toBe("application/json");
  expect(headers["anthropic-ratelimit-input-tokens-remaining"]).toBe("9999999");
  expect(headers["anthropic-ratelimit-requests-reset"]).toBe("2026-11-15T12:00:00Z");
  expect(headers["anthropic-organization-id"]).toMatch(/^[0-9a-f-]{36}$/);
  expect(headers["anthropic-workspace-id"]).toBe("workspace");
});

test("a stream has the provider's events in the provider's order", () => {
  const client = createClient();
  client.answer = () => ({
    parts: [
      { kind: "thinking", text: "I will look at the file first, then at its neighbours." },
      { kind: "text", text: "Let me look." },
      { kind: "tool use", name: "read", inputJson: '{"path":"a.ts","2":1,"1":2.50}' },
    ],
    stop: "tool use",
  });
  const { text: stream, headers } = client.create({
    model: "claude-opus-5",
    max_tokens: 1000,
    stream: true,
    thinking: { type: "adaptive" },
    tools: [tool("read")],
    messages: [{ role: "user", content: "Look." }],
  });
  expect(headers["content-type"]).toBe("text/event-stream; charset=utf-8");
  const events = eventsOf(stream);
  expect(events.map(({ type, delta }) => delta?.type ?? type)).toEqual([
    "message_start",
    "content_block_start",
    "ping",
    "thinking_delta",
    "thinking_delta",
    "thinking_delta",
    "signature_delta",
    "content_block_stop",
    "content_block_start",
    "text_delta",
    "content_block_stop",
    "content_block_start",
    "input_json_delta",
    "input_json_delta",
    "input_json_delta",
    "content_block_stop",
    "message_delta",
    "message_stop",
  ]);
  const json = events.flatMap(({ delta }) => delta?.partial_json ?? []).join("");
  expect(json).toBe('{"path":"a.ts","2":1,"1":2.50}');
  const [start] = events;
  expect(start.message.content).toEqual([]);
  expect(start.message.usage.output_tokens).toBe(1);
  const end = events.at(-2);
  expect(end.delta).toEqual({ stop_reason: "tool_use", stop_sequence: null });
  expect(end.usage.input_tokens).toBe(start.message.usage.input_tokens);
  expect(end.usage.output_tokens).toBeGreaterThan(100);
  expect(end.usage.output_tokens_details.thinking_tokens).toBeGreaterThan(5);
  expect(end.usage).not.toHaveProperty("cache_creation");
});

test("a streamed reply and a whole one say the same", () => {
  const body = {
    model,
    max_tokens: 1000,
    messages: [{ role: "user", content: `${words(200)} 🦀🦀🦀` }],
  };
  const whole = createClient().create(body).body;
  const events = eventsOf(createClient().create({ ...body, stream: true }).text);
  expect(events.flatMap(({ delta }) => delta?.text ?? []).join("")).toBe(whole.content[0].text);
  expect(events.at(-2).usage.output_tokens).toBe(whole.usage.output_tokens);
});

test("tool inputs keep the order of their keys and the spelling of their numbers", () => {
  const client = createClient();
  client.answer = () => ({
    parts: [{ kind: "tool use", name: "read", inputJson: '{ "10": 1.0, "2": 1e3 }' }],
    stop: "tool use",
  });
  const { text: raw } = client.create({
    model,
    max_tokens: 1000,
    tools: [tool("read")],
    messages: [{ role: "user", content: "Go." }],
  });
  expect(raw).toContain('"name":"read","input":{"10":1.0,"2":1e3}}');
});

test("counting and billing agree to the token", () => {
  const client = createClient();
  const prompt = {
    model: "claude-opus-4-8",
    system: [text(words(300, "system"), marked)],
    tools: [tool("read"), tool("write")],
    tool_choice: { type: "any" },
    messages: [
      { role: "user", content: [text(words(50)), png(300, 200)] },
      {
        role: "assistant",
        content: [{ type: "tool_use", id: "a", name: "read", input: { path: "x" } }],
      },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "a", content: [text("done"), png(100, 100)] },
          { type: "document", source: { type: "text", media_type: "text/plain", data: words(20) } },
          text("and now?", marked),
        ],
      },
    ],
  };
  const { input_tokens: counted } = client.count(prompt).body;
  const { read, write5m, write1h, input } = buckets(client.create({ ...prompt, max_tokens: 10 }));
  expect(read + write5m + write1h + input).toBe(counted);
  expect(client.count(prompt).body).toEqual({ input_tokens: counted });
});

test("an image costs by its size, a larger one at most the limit", () => {
  const client = createClient();
  const tokens = (content: readonly unknown[]): number =>
    client.count({ model, messages: [{ role: "user", content }] }).body.input_tokens;
  const none = tokens([text("x")]);
  expect(tokens([text("x"), png(300, 250)]) - none).toBe(100);
  expect(tokens([text("x"), png(3000, 3000)]) - none).toBe(1600);
  const url = { type: "image", source: { type: "url", url: "https://example.com/a.png" } };
  expect(tokens([text("x"), url]) - none).toBe(1600);
});

test("a PDF costs by its pages, another document by its text", () => {
  const client = createClient();
  const tokens = (content: readonly unknown[]): number =>
    client.count({ model, messages: [{ role: "user", content }] }).body.input_tokens;
  const none = tokens([text("x")]);
  const pages = "%PDF-1.7 /Type /Pages /Type /Page /Type/Page /Type /Page";
  expect(tokens([text("x"), pdf(pages)]) - none).toBe(3 * 2250);
  expect(tokens([text("x"), pdf("%PDF-1.7 compressed")]) - none).toBe(2250);
  const plain = { type: "document", source: { type: "text", media_type: "text/plain", data: "x" } };
  expect(tokens([text("x"), plain]) - none).toBeLessThan(10);
});

test("the published tool prompt is counted, and a forced choice adds to it", () => {
  const client = createClient();
  const tokens = (extra: object): number =>
    client.count({
      model: "claude-opus-5",
      messages: [{ role: "user", content: "hi" }],
      ...extra,
    }).body.input_tokens;
  const tools = [tool("read")];
  const forced = tokens({ tools, tool_choice: { type: "any" } });
  expect(forced - tokens({ tools })).toBe(120);
  expect(tokens({ tools }) - tokens({})).toBeGreaterThan(286);
});

test("the output limit cuts the reply and says so", () => {
  const client = createClient();
  const { body } = client.create({
    model,
    max_tokens: 20,
    messages: [{ role: "user", content: words(100) }],
  });
  expect(body.stop_reason).toBe("max_tokens");
  expect(body.usage.output_tokens).toBeLessThanOrEqual(20);
  expect(words(100).startsWith(body.content[0].text)).toBe(true);
});

test("a cut never splits a character", () => {
  for (let limit = 1; limit < 12; limit += 1) {
    const { body } = createClient().create({
      model,
      max_tokens: limit,
      messages: [{ role: "user", content: "🦀🦞🦐🦑🐙🦀🦞🦐🦑🐙" }],
    });
    expect(body.content.every((block: Any) => block.text.isWellFormed())).toBe(true);
    expect(body.usage.output_tokens).toBeLessThanOrEqual(limit);
  }
});

test("a tool use that does not fit is left out", () => {
  const client = createClient();
  client.answer = () => ({
    parts: [
      { kind: "text", text: "Hm." },
      { kind: "tool use", name: "read", inputJson: '{"path":"x"}' },
    ],
    stop: "tool use",
  });
  const { body } = client.create({
    model,
    max_tokens: 20,
    tools: [tool("read")],
    messages: [{ role: "user", content: "Go." }],
  });
  expect(body.content).toEqual([{ type: "text", text: "Hm." }]);
  expect(body.stop_reason).toBe("max_tokens");
});

test("a stop sequence ends the reply", () => {
  const { body } = createClient().create({
    model,
    max_tokens: 50,
    stop_sequences: ["STOP", "HALT"],
    messages: [{ role: "user", content: "one two HALT three STOP" }],
  });
  expect(body.content[0].text).toBe("one two ");
  expect(body.stop_reason).toBe("stop_sequence");
  expect(body.stop_sequence).toBe("HALT");
});

test("every billed request is on the record, with its price", () => {
  const client = createClient();
  client.create({
    model: "claude-opus-5-5",
    max_tokens: 100,
    messages: [{ role: "user", content: "hi" }],
  });
  const [record] = client.records;
  expect(record).toMatchObject({
    surface: "anthropic",
    model: "claude-opus-5-5",
    stopReason: "end_turn",
  });
  const { bill, outputTokens, reasoningTokens, costUsd } = record ?? {};
  const dollars =
    ((bill?.totalTokens ?? 0) * 4 + ((outputTokens ?? 0) + (reasoningTokens ?? 0)) * 20) / 1e6;
  expect(Number(costUsd?.slice(1))).toBeCloseTo(dollars, 10);
  expect(reasoningTokens).toBeGreaterThan(0);
});

test("fast mode costs twice as much where its price is known", () => {
  const client = createClient();
  for (const speed of ["standard", "fast"]) {
    const messages = [{ role: "user", content: "hi" }];
    client.create({ model: "claude-opus-5", max_tokens: 100, speed, messages });
  }
  const [usual = 0, fast] = client.records.map(({ costUsd }) => Number(costUsd?.slice(1)));
  expect(usual).toBeGreaterThan(0);
  expect(fast).toBeCloseTo(2 * usual, 12);
});

test("fast mode and models without a price are billed in tokens only", () => {
  const client = createClient();
  client.create({
    model,
    max_tokens: 9,
    speed: "fast",
    messages: [{ role: "user", content: "hi" }],
  });
  client.create({
    model: "claude-mythos-preview",
    max_tokens: 100,
    messages: [{ role: "user", content: "hi" }],
  });
  expect(client.records.map(({ costUsd }) => costUsd)).toEqual([null, null]);
});

test("the model is shown system, tools, turns and what it may do", () => {
  const client = createClient();
  client.create({
    model,
    max_tokens: 77,
    system: "Be brief.",
    tools: [tool("read"), { type: "web_search_20250305", name: "web_search" }],
    tool_choice: { type: "tool", name: "read" },
    messages: [
      { role: "user", content: "Go." },
      {
        role: "assistant",
        content: [{ type: "tool_use", id: "a", name: "read", input: { path: "x" } }],
      },
      {
        role: "user",
        content: [{ type: "tool_result", tool_use_id: "a", is_error: true, content: "no file" }],
      },
    ],
  });
  expect(client.prompts).toEqual([
    {
      model,
      wants: "reply",
      instructions: null,
      system: "Be brief.",
      tools: [
        { name: "read", description: "The tool read.", inputSchema: tool("read").input_schema },
      ],
      turns: [
        { role: "user", text: "Go.", toolUses: [], toolResults: [] },
        {
          role: "assistant",
          text: "",
          toolUses: [{ id: "a", name: "read", inputJson: '{"path":"x"}' }],
          toolResults: [],
        },
        {
          role: "user",
          text: "",
          toolUses: [],
          toolResults: [{ id: "a", text: "no file", isError: true }],
        },
      ],
      outputTokensMax: 77,
      thinks: false,
      toolChoice: { name: "read" },
    },
  ]);
});

function png(width: number, height: number): object {
  const bytes = Buffer.alloc(33);
  bytes.write("\u0089PNG\r\n\u001a\n", 0, "latin1");
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  const source = { type: "base64", media_type: "image/png", data: bytes.toString("base64") };
  return { type: "image", source };
}

function pdf(content: string): object {
  const data = Buffer.from(content).toString("base64");
  return { type: "document", source: { type: "base64", media_type: "application/pdf", data } };
}
