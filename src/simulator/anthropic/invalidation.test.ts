// Goal: every row of the table of providers.md §1.4. Method: send, change one thing, send again, see how far it read.
import { describe, expect, test } from "vitest";
import {
  buckets,
  createClient,
  marked,
  text,
  tierRead,
  tool,
  words,
  type Any,
} from "./test-kit.ts";

/** The cache minimum is 512 tokens. */
const model = "claude-opus-5";

const base = (): Any => ({
  model,
  max_tokens: 100,
  tools: [tool("read", { description: words(400, "tool"), ...marked })],
  system: [text(words(100, "system"), marked)],
  messages: [{ role: "user", content: [text(words(100), marked)] }],
});

function tierAfter(change: (body: Any) => Any, start: (body: Any) => Any = same): string {
  const client = createClient();
  client.betas = ["context-management-2025-06-27"];
  expect(client.create(start(base())).status).toBe(200);
  const answer = client.create(change(base()));
  expect(answer.text).not.toContain('"type":"error"');
  return tierRead(client);
}

test.each<readonly [string, (body: Any) => Any, string]>([
  ["nothing", same, "messages"],
  ["a tool's description", (body) => ({ ...body, tools: [tool("read", marked)] }), "nothing"],
  ["one more tool", (body) => ({ ...body, tools: [tool("a"), ...body.tools] }), "nothing"],
  ["the model", (body) => ({ ...body, model: "claude-opus-4-8" }), "nothing"],
  [
    "web search switched on",
    (body) => ({
      ...body,
      tools: [...body.tools, { type: "web_search_20250305", name: "web_search" }],
    }),
    "tools",
  ],
  ["fast mode", (body) => ({ ...body, speed: "fast" }), "tools"],
  ["explicit standard speed", (body) => ({ ...body, speed: "standard" }), "messages"],
  ["the system text", (body) => ({ ...body, system: [text("other", marked)] }), "tools"],
  ["tool choice", (body) => ({ ...body, tool_choice: { type: "none" } }), "system"],
  ["explicit free tool choice", (body) => ({ ...body, tool_choice: { type: "auto" } }), "messages"],
  [
    "no parallel tool use",
    (body) => ({ ...body, tool_choice: { type: "auto", disable_parallel_tool_use: true } }),
    "system",
  ],
  ["thinking", (body) => ({ ...body, thinking: { type: "disabled" } }), "nothing"],
  [
    "explicit default thinking",
    (body) => ({ ...body, thinking: { type: "adaptive" } }),
    "messages",
  ],
  ["effort", (body) => ({ ...body, output_config: { effort: "low" } }), "nothing"],
  [
    "the output format",
    (body) => ({ ...body, output_config: { format: { type: "json_schema", schema: {} } } }),
    "nothing",
  ],
  [
    "explicit default effort",
    (body) => ({ ...body, output_config: { effort: "high" } }),
    "messages",
  ],
  ["an image after the end", (body) => withTurn(body, [image]), "system"],
  ["an image inside a tool result", (body) => withResult(body, [text("seen"), image]), "system"],
  ["a cited document after the end", (body) => withTurn(body, [cited]), "tools"],
  ["the output limit", (body) => ({ ...body, max_tokens: 7 }), "messages"],
  ["metadata", (body) => ({ ...body, metadata: { user_id: "me" } }), "messages"],
  ["streaming", (body) => ({ ...body, stream: true }), "messages"],
  [
    "keeping all thinking by context editing",
    (body) => ({
      ...body,
      context_management: { edits: [{ type: "clear_thinking_20251015", keep: "all" }] },
    }),
    "messages",
  ],
])("after a change of %s", (_what, change, tier) => {
  expect(tierAfter(change)).toBe(tier);
});

test("web search before the marked tool leaves that tool cached", () => {
  const search = { type: "web_search_20250305", name: "web_search" };
  expect(tierAfter((body) => ({ ...body, tools: [search, ...body.tools] }))).toBe("tools");
});

test("an explicit default of thinking changes nothing where the model always thinks", () => {
  expect(tierAfter(alwaysAloud, always)).toBe("messages");
});

test("a forced tool adds its tokens behind what stays cached", () => {
  const client = createClient();
  client.create(base());
  client.create({ ...base(), tool_choice: { type: "any" } });
  const [before, after] = client.records.map(({ bill }) => bill);
  expect(after?.readTokens).toBe(before?.markers[1]?.tokens);
  expect(after?.totalTokens).toBe((before?.totalTokens ?? 0) + 120);
});

test("how the fields of a result or an image are written down is no change", () => {
  const client = createClient();
  const source = { type: "base64", media_type: "image/png", data: "iVBO" };
  const { data, ...rest } = source;
  const automatic = { cache_control: { type: "ephemeral" } };
  client.create({ ...withImage(source), ...automatic });
  const body = { ...withImage({ data, ...rest }), ...automatic };
  body.messages.at(-1).content[0] = { is_error: false, ...body.messages.at(-1).content[0] };
  expect(buckets(client.create(body))).toMatchObject({ write5m: 0, input: 3 });
});

test("one text and a list with one text are the same prompt", () => {
  const client = createClient();
  client.create(base());
  client.create({
    ...base(),
    system: [text(words(100, "system"), marked)],
    messages: [
      { role: "user", content: words(100) },
      { role: "assistant", content: "ok" },
      { role: "user", content: [text("more", marked)] },
    ],
  });
  expect(tierRead(client)).toBe("messages");
});

test("moving a marker changes nothing", () => {
  const client = createClient();
  client.create({ model, max_tokens: 9, messages: [longTurn(marked)] });
  const { read } = buckets(
    client.create({
      model,
      max_tokens: 9,
      messages: [
        longTurn({}),
        { role: "assistant", content: [text("ok")] },
        { role: "user", content: [text("more", marked)] },
      ],
    }),
  );
  expect(read).toBeGreaterThan(512);
});

test("the order of keys in a tool input breaks the prefix from there on", () => {
  const all = readAfter('{"b":1,"1":2}');
  expect(readAfter('{ "b" : 1, "1" : 2 }')).toBe(all);
  expect(readAfter('{"1":2,"b":1}')).toBeLessThan(all);
  expect(readAfter('{"b":1.0,"1":2}')).toBeLessThan(all);
});

test("an id of a tool use is part of the prompt", () => {
  const client = createClient();
  client.create(withId("a"));
  expect(buckets(client.create(withId("b"))).write5m).toBeGreaterThan(0);
});

test("an unknown kind of block is taken and kept as it is written", () => {
  const client = createClient();
  client.create(hologram(1));
  expect(buckets(client.create(hologram(1))).read).toBeGreaterThan(512);
  expect(buckets(client.create(hologram(2))).read).toBe(0);
});

test("a marker inside a tool result marks the whole result", () => {
  const client = createClient();
  const content = [text(words(400), marked), text("tail")];
  const body = {
    model,
    max_tokens: 9,
    messages: [
      { role: "user", content: "go" },
      { role: "assistant", content: [{ type: "tool_use", id: "a", name: "read", input: {} }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "a", content }] },
    ],
  };
  expect(buckets(client.create(body)).input).toBe(3);
});

test("a marker inside a document marks the whole document", () => {
  const client = createClient();
  const content = [text(words(400), marked), text("tail")];
  const document = { type: "document", source: { type: "content", content } };
  const body = { model, max_tokens: 9, messages: [{ role: "user", content: [document] }] };
  const { write5m, input } = buckets(client.create(body));
  expect(input).toBe(3);
  expect(buckets(client.create(body))).toMatchObject({ read: write5m, write5m: 0 });
});

describe("an explicit default is the same prompt, another value is not", () => {
  test("citations of a document", () => {
    const { citations: _on, ...plain } = cited;
    const first = withDocuments(plain);
    expect(rewritten(first, first)).toBe(0);
    expect(rewritten(first, withDocuments({ ...plain, citations: { enabled: false } }))).toBe(0);
    expect(rewritten(first, withDocuments({ ...plain, citations: null }))).toBe(0);
    expect(rewritten(first, withDocuments(cited))).toBeGreaterThan(0);
  });

  test("citations of one document beside another that is cited", () => {
    const first = withDocuments(cited, { ...cited, citations: { enabled: false } });
    expect(rewritten(first, withDocuments(cited, { ...cited, citations: null }))).toBe(0);
    expect(rewritten(first, withDocuments(cited, cited))).toBeGreaterThan(0);
  });

  test("strict of a tool", () => {
    expect(rewritten(base(), withToolField({ strict: false }))).toBe(0);
    expect(rewritten(base(), withToolField({ strict: true }))).toBeGreaterThan(0);
  });

  test("the caller of a tool use", () => {
    const called = (caller: object): Any => withId("a", { caller });
    expect(rewritten(withId("a"), called({ type: "direct" }))).toBe(0);
    const byCode = { type: "code_execution_20250825", tool_id: "x" };
    expect(rewritten(withId("a"), called(byCode))).toBeGreaterThan(0);
  });
});

describe("a new user turn after thinking", () => {
  const thinking = { type: "thinking", thinking: "hm", signature: "s".repeat(400) };
  const start = { role: "user", content: [text(words(1500), marked)] };
  const loop = (extra: object): Any[] => [
    start,
    {
      role: "assistant",
      content: [thinking, { type: "tool_use", id: "a", name: "read", input: {} }],
    },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "a", content: "ok", ...extra }] },
  ];
  const next = [
    { role: "assistant", content: "done" },
    { role: "user", content: [text("next", marked)] },
  ];

  function readings(name: string, extra: object = {}): readonly number[] {
    const client = createClient();
    client.betas = ["context-management-2025-06-27"];
    const kept = buckets(client.create({ ...talk([start], name), ...extra })).write5m;
    const grown = buckets(client.create({ ...talk(loop(marked), name), ...extra }));
    expect(grown.read).toBe(kept);
    const { read } = buckets(client.create({ ...talk([...loop({}), ...next], name), ...extra }));
    return [kept, grown.read + grown.write5m, read];
  }

  test("older models forget the thinking, and read only what stands before it", () => {
    const [start1 = 0, all = 0, read] = readings("claude-sonnet-4-5");
    expect(read).toBe(start1);
    expect(all).toBeGreaterThan(start1 + 80);
  });

  test("older models keep it if context editing keeps all", () => {
    const keepAll = { edits: [{ type: "clear_thinking_20251015", keep: "all" }] };
    const [, all, read] = readings("claude-sonnet-4-5", { context_management: keepAll });
    expect(read).toBe(all);
  });

  test("newer models keep it and read everything", () => {
    const [, all, read] = readings("claude-sonnet-4-6");
    expect(read).toBe(all);
  });

  test("forgotten thinking costs nothing", () => {
    const client = createClient();
    const count = (content: readonly unknown[]): number =>
      client.count({
        model: "claude-sonnet-4-5",
        messages: [
          { role: "user", content: "go" },
          { role: "assistant", content },
          { role: "user", content: "next" },
        ],
      }).body.input_tokens;
    expect(count([thinking, text("done")])).toBe(count([text("done")]));
  });
});

const image = {
  type: "image",
  source: { type: "url", url: "https://example.com/a.png" },
};
const cited = {
  type: "document",
  source: { type: "text", media_type: "text/plain", data: "facts" },
  citations: { enabled: true },
};

function same(body: Any): Any {
  return body;
}

function withTurn(body: Any, content: readonly unknown[]): Any {
  return {
    ...body,
    messages: [...body.messages, { role: "assistant", content: "ok" }, { role: "user", content }],
  };
}

function withResult(body: Any, content: readonly unknown[]): Any {
  return {
    ...body,
    messages: [
      ...body.messages,
      { role: "assistant", content: [{ type: "tool_use", id: "a", name: "read", input: {} }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "a", content }] },
    ],
  };
}

function longTurn(extra: object): Any {
  return { role: "user", content: [text(words(400), extra)] };
}

function withInput(input: string): string {
  return (
    `{"model":"${model}","max_tokens":9,"tools":[${JSON.stringify(tool("read"))}],"messages":[` +
    `{"role":"user","content":[${JSON.stringify(text(words(400), marked))}]},` +
    `{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"read","input":${input}}]},` +
    `{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"${words(50)}","cache_control":{"type":"ephemeral"}}]}]}`
  );
}

/** The tokens that the second of two requests writes again. */
function rewritten(first: Any, second: Any): number {
  const client = createClient();
  client.create(first);
  return buckets(client.create(second)).write5m;
}

function withDocuments(...documents: readonly unknown[]): Any {
  return withTurn(base(), [...documents, text("so?", marked)]);
}

function withToolField(field: object): Any {
  return { ...base(), tools: base().tools.map((each: Any) => ({ ...each, ...field })) };
}

function withId(id: string, extra: object = {}): Any {
  return {
    model,
    max_tokens: 9,
    messages: [
      { role: "user", content: [text(words(400), marked)] },
      { role: "assistant", content: [{ type: "tool_use", id, name: "read", input: {}, ...extra }] },
      {
        role: "user",
        content: [{ type: "tool_result", tool_use_id: id, content: "x", ...marked }],
      },
    ],
  };
}

function hologram(value: number): Any {
  const content = [text(words(400)), { type: "hologram", value, ...marked }];
  return { model, max_tokens: 9, messages: [{ role: "user", content }] };
}

function talk(turns: readonly Any[], name: string): Any {
  return {
    model: name,
    max_tokens: 2000,
    thinking: { type: "enabled", budget_tokens: 1024 },
    messages: turns,
  };
}

function readAfter(input: string): number {
  const client = createClient();
  client.call("POST", "/v1/messages", withInput('{"b":1,"1":2}'));
  return buckets(client.call("POST", "/v1/messages", withInput(input))).read;
}

function always(body: Any): Any {
  return { ...body, model: "claude-opus-5-5" };
}

function withImage(source: object): Any {
  return withResult(base(), [text(words(50)), { source, type: "image" }]);
}

function alwaysAloud(body: Any): Any {
  return { ...always(body), thinking: { type: "adaptive" } };
}
