// Goal: summaries on demand (providers.md §1.10). Method: summarise a conversation and go on with the summary.
import { describe, expect, test } from "vitest";
import { createClient, marked, text, tool, words, type Any, type Client } from "./test-kit.ts";

const beta = "compact-2026-09-04";

function openClient(): Client {
  const client = createClient();
  client.betas = [beta];
  return client;
}

const long = [
  { role: "user", content: [text(words(300), marked)] },
  { role: "assistant", content: "ok" },
  { role: "user", content: "and then?" },
];
const thinking = { type: "disabled" };
const base = { model: "claude-opus-5", max_tokens: 500, messages: long, thinking };
const summarise = { ...base, compaction: { type: "summarize", instructions: "Keep names." } };

/** A conversation that continues after a summary. */
function goOn(block: Any, ...rest: readonly Any[]): Any {
  return {
    ...base,
    messages: [
      { role: "assistant", content: [block] },
      { role: "user", content: "go on" },
      ...rest,
    ],
  };
}

function errorOf(client: Client, body: Any): Any {
  const { status, body: answer } = client.create(body);
  expect(status).toBe(400);
  return answer.error;
}

describe("asking for a summary", () => {
  test("gives one signed block and bills it as an iteration of its own", () => {
    const client = openClient();
    const { body } = client.create(summarise);
    expect(body.content).toEqual([
      {
        type: "compaction",
        content: "Summary of 3 turns.",
        encrypted_content: null,
        signature: body.content[0].signature,
      },
    ]);
    expect(body.stop_reason).toBe("compaction");
    expect(body.usage).toMatchObject({
      input_tokens: 0,
      output_tokens: 0,
      cache_creation_input_tokens: 0,
    });
    const bill = client.records[0]?.bill;
    expect(body.usage.iterations).toMatchObject([
      {
        type: "compaction",
        input_tokens: bill?.uncachedTokens,
        cache_creation_input_tokens: bill?.writeTokens["5m"],
        output_tokens: client.records[0]?.outputTokens,
      },
    ]);
    expect(bill?.writeTokens["5m"]).toBeGreaterThan(512);
    expect(client.prompts[0]).toMatchObject({ wants: "summary", instructions: "Keep names." });
  });

  test("reads the cache of the conversation", () => {
    const client = openClient();
    client.create(base);
    const { usage } = client.create(summarise).body;
    expect(usage.iterations[0].cache_read_input_tokens).toBeGreaterThan(512);
  });

  test("streams the whole block at its start, without deltas", () => {
    const { text: stream } = openClient().create({ ...summarise, stream: true });
    const events = [...stream.matchAll(/^event: (.*)$/gm)].map((match) => match[1]);
    expect(events).toEqual([
      "message_start",
      "content_block_start",
      "ping",
      "content_block_stop",
      "message_delta",
      "message_stop",
    ]);
    expect(stream).toContain(
      '"content_block":{"type":"compaction","content":"Summary of 3 turns."',
    );
  });

  test("a summary cut short is an empty reply", () => {
    const { body } = openClient().create({ ...summarise, max_tokens: 2 });
    expect(body).toMatchObject({ content: [], stop_reason: "max_tokens" });
  });

  test("is refused without its beta", () => {
    expect(errorOf(createClient(), summarise).message).toContain(
      "requires anthropic-beta: compact-2026-09-04",
    );
  });

  test.each<readonly [string, object]>([
    ["stop_sequences", { stop_sequences: ["x"] }],
    ["tool_choice", { tools: [tool("a")], tool_choice: { type: "any" } }],
    ["output_config.format", { output_config: { format: { type: "json_schema" } } }],
    ["output_config.task_budget.remaining", { output_config: { task_budget: { remaining: 1 } } }],
    ["not supported on this model", { model: "claude-haiku-5-5" }],
  ])("is refused with %s", (what, extra) => {
    expect(errorOf(openClient(), { ...summarise, ...extra }).message).toContain(what);
  });

  test("is refused with context management", () => {
    const client = openClient();
    client.betas = [beta, "context-management-2025-06-27"];
    const error = errorOf(client, { ...summarise, context_management: { edits: [] } });
    expect(error.message).toContain("context_management");
  });

  test("counting takes the field and ignores it", () => {
    const client = openClient();
    expect(client.count(summarise).body).toEqual(client.count(base).body);
  });
});

describe("going on with a summary", () => {
  test("the block stands first, alone or before other content, and can be marked", () => {
    const client = openClient();
    const [block] = client.create(summarise).body.content;
    expect(client.create(goOn({ ...block, ...marked })).status).toBe(200);
    const within = [{ role: "user", content: [block, text("go on")] }];
    expect(client.create({ ...base, messages: within }).status).toBe(200);
  });

  test("needs the header on every request", () => {
    const client = openClient();
    const [block] = client.create(summarise).body.content;
    client.betas = [];
    expect(errorOf(client, goOn(block)).message).toContain(
      "requires anthropic-beta: compact-2026-09-04",
    );
  });

  test("a block elsewhere is misplaced, and so is a second one", () => {
    const client = openClient();
    const [block] = client.create(summarise).body.content;
    const later = { ...base, messages: [...long, { role: "assistant", content: [block] }] };
    expect(errorOf(client, later).details).toEqual({ error_code: "compaction_block_misplaced" });
    const twice = goOn(block, { role: "assistant", content: [block] });
    expect(errorOf(client, twice).details).toEqual({ error_code: "compaction_block_misplaced" });
  });

  test("a foreign signature and an edited text get different errors", () => {
    const client = openClient();
    const [block] = client.create(summarise).body.content;
    expect(errorOf(client, goOn({ ...block, signature: "x" })).details).toEqual({
      error_code: "compaction_signature_invalid",
    });
    expect(errorOf(client, goOn({ ...block, content: "All is well." })).details).toEqual({
      error_code: "compaction_content_mismatch",
    });
  });

  test("a summary alone cannot be summarised", () => {
    const client = openClient();
    const [block] = client.create(summarise).body.content;
    const alone = { ...summarise, messages: [{ role: "assistant", content: [block] }] };
    expect(errorOf(client, alone).details).toEqual({
      error_code: "compaction_nothing_to_summarize",
    });
  });

  test("thinking behind the summarised part stays valid", () => {
    const client = openClient();
    const bound = { model: "claude-opus-5-5", thinking: { type: "adaptive" } };
    const first = { ...base, ...bound };
    const { content } = client.create(first).body;
    const tail = [
      { role: "assistant", content },
      { role: "user", content: "go on" },
    ];
    const [block] = client.create({ ...summarise, ...bound }).body.content;
    const kept = { ...first, messages: [{ role: "assistant", content: [block] }, ...tail] };
    expect(client.create(kept).status).toBe(200);
    const byHand = { ...first, messages: [{ role: "user", content: "Summary." }, ...tail] };
    expect(errorOf(client, byHand).message).toContain("bound to a different conversation");
  });
});
