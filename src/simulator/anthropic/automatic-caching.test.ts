// Goal: the marker for a whole request, and pre-warming (providers.md §1.2, §1.6). Method: real requests, real billing.
import { describe, expect, test } from "vitest";
import { buckets, createClient, marked, text, tool, words, type Any } from "./test-kit.ts";

/** The cache minimum is 512 tokens. */
const model = "claude-opus-5";
const minute = 60_000;

function ask(content: unknown, extra: object = {}): Any {
  return { model, max_tokens: 50, messages: [{ role: "user", content }], ...extra };
}

describe("automatic caching", () => {
  const auto = { cache_control: { type: "ephemeral" } };
  const auto1h = { cache_control: { type: "ephemeral", ttl: "1h" } };

  test("marks the last block and advances with the conversation", () => {
    const client = createClient();
    const first = buckets(client.create(ask(words(400), auto)));
    expect(first.input).toBe(3);
    const grown = client.create({
      ...auto,
      model,
      max_tokens: 9,
      messages: [
        { role: "user", content: words(400) },
        { role: "assistant", content: "ok" },
        { role: "user", content: "more" },
      ],
    });
    expect(buckets(grown)).toMatchObject({ read: first.write5m, input: 3 });
    expect(client.records[1]?.bill.markers[0]?.origin).toBe("automatic");
  });

  test("can ask for an hour", () => {
    expect(buckets(createClient().create(ask(words(400), auto1h)))).toMatchObject({ write5m: 0 });
  });

  test("does nothing where the last block has the same marker", () => {
    const client = createClient();
    client.create(ask([text(words(400), marked)], auto));
    expect(client.records[0]?.bill.markers).toHaveLength(1);
    expect(client.records[0]?.bill.markers[0]?.origin).toBe("explicit");
  });

  test("is refused where the last block has another lifetime", () => {
    const { status, body } = createClient().create(ask([text(words(400), marked)], auto1h));
    expect([status, body.error.type]).toEqual([400, "invalid_request_error"]);
    expect(body.error.message).toContain("simulator wording");
  });

  test("is refused where four markers are taken", () => {
    const four = [1, 2, 3, 4].map((index) => text(words(9, `b${index}`), marked));
    const { status, body } = createClient().create(ask([...four, text("last")], auto));
    expect(status).toBe(400);
    expect(body.error.message).toContain("all are taken");
  });

  test("uses the fourth slot where three are taken", () => {
    const three = [1, 2, 3].map((index) => text(words(200, `b${index}`), marked));
    const client = createClient();
    expect(buckets(client.create(ask([...three, text("last")], auto))).input).toBe(3);
    expect(client.records[0]?.bill.markers).toHaveLength(4);
  });

  test("walks back over thinking to the last block that can carry it", () => {
    const client = createClient();
    const thought = { type: "thinking", thinking: "hm", signature: "foreign" };
    const answer = client.create({
      ...auto,
      model,
      max_tokens: 9,
      messages: [
        { role: "user", content: words(400) },
        { role: "assistant", content: [thought] },
      ],
    });
    expect(answer.status).toBe(200);
    expect(client.records[0]?.bill.markers).toMatchObject([{ block: 0, origin: "automatic" }]);
  });

  test("an hour after five minutes is out of order", () => {
    const { body } = createClient().create(ask([text(words(400), marked), text("x")], auto1h));
    expect(body.error.message).toMatch(
      /^cache_control\.ttl: a ttl='1h' cache_control block must not/,
    );
  });
});

describe("pre-warming", () => {
  test("writes the prefix, generates nothing, and the real request reads it", () => {
    const client = createClient();
    const { body } = client.create(warm());
    expect(body).toMatchObject({ content: [], stop_reason: "max_tokens" });
    expect(body.usage).toMatchObject({ output_tokens: 0 });
    expect(body.usage.iterations).toHaveLength(1);
    expect(client.prompts).toEqual([]);
    const real = client.create(ask("go", { system: [text(words(400), marked)] }));
    expect(buckets(real).read).toBe(body.usage.cache_creation_input_tokens);
  });

  test("refreshes what is there, as a keep-alive", () => {
    const client = createClient();
    client.create(warm());
    client.nowMs += 4 * minute;
    client.create(warm());
    client.nowMs += 4 * minute;
    expect(buckets(client.create(warm())).read).toBeGreaterThan(512);
  });

  test.each([
    ["stream", { stream: true }],
    [
      "thinking.type",
      { model: "claude-opus-4-6", thinking: { type: "enabled", budget_tokens: 1024 } },
    ],
    ["output_config.format", { output_config: { format: { type: "json_schema", schema: {} } } }],
    ["tool_choice", { tools: [tool("read")], tool_choice: { type: "any" } }],
    ["tool_choice", { tools: [tool("read")], tool_choice: { type: "tool", name: "read" } }],
  ])("is refused with %s", (what, extra) => {
    const { status, body } = createClient().create(warm(extra));
    expect([status, body.error.type]).toEqual([400, "invalid_request_error"]);
    expect(body.error.message).toContain(`max_tokens: 0 cannot be combined with ${what}`);
  });
});

function warm(extra: object = {}): Any {
  return ask([text("-")], { max_tokens: 0, system: [text(words(400), marked)], ...extra });
}
