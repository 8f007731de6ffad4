// Goal: deferred tools are outside the prefix until a reference brings them in.
import { expect, test } from "vitest";
import {
  buckets,
  createClient,
  marked,
  text,
  tool,
  words,
  type Any,
} from "../../../fixtures/simulator/anthropic/call-surface.ts";

/** 512 tokens are enough to be kept. */
const model = "claude-opus-5";

const search = tool("search", { description: words(400, "search") });
const hidden = (name: string): Any => tool(name, { defer_loading: true });
const body = (tools: readonly unknown[], more: readonly unknown[] = []): Any => ({
  model,
  max_tokens: 9,
  tools,
  messages: [{ role: "user", content: [text(words(50), marked)] }, ...more],
});
const found = (name: string): Any[] => [
  { role: "assistant", content: [{ type: "tool_use", id: "a", name: "search", input: {} }] },
  {
    role: "user",
    content: [
      {
        type: "tool_result",
        tool_use_id: "a",
        content: [{ type: "tool_reference", tool_name: name }],
      },
    ],
  },
];

test("are outside the prefix: new ones in the middle change nothing and cost nothing", () => {
  const client = createClient();
  const { write5m } = buckets(client.create(body([search, tool("read")])));
  const second = client.create(body([search, hidden("a"), hidden("b"), tool("read")]));
  expect(buckets(second)).toMatchObject({ read: write5m, write5m: 0 });
});

test("come into the prompt where a reference names them, and then count", () => {
  const client = createClient();
  const small = client.count(body([search, hidden("a")], found("search"))).body.input_tokens;
  const tools = [search, tool("a", { defer_loading: true, description: words(100) })];
  const large = client.count(body(tools, found("a"))).body.input_tokens;
  expect(large - small).toBeGreaterThan(100);
  client.create(body([search, hidden("a"), hidden("b")], found("a")));
  expect(client.prompts[0]?.tools.map(({ name }) => name)).toEqual(["search", "a"]);
});

test("a reference to an unknown tool is refused", () => {
  const { body: error } = createClient().create(body([search], found("ghost")));
  expect(error.error.message).toBe("Tool reference 'ghost' not found in available tools");
});

test("not all tools may be deferred", () => {
  const { body: error } = createClient().create(body([hidden("a")]));
  expect(error.error.message).toBe(
    "At least one tool must have defer_loading=false. All tools cannot be deferred.",
  );
});
