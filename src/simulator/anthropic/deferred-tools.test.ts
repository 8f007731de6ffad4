// Goal: deferred tools are outside the prefix until a reference brings them in.
import { describe, expect, test } from "vitest";
import {
  buckets,
  createClient,
  marked,
  text,
  tool,
  words,
  type Any,
  type Client,
} from "./test-kit.ts";

/** The cache minimum is 512 tokens. */
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

describe("tools added and removed by a system message", () => {
  test("an added tool is billed where it is added, and the model sees it", () => {
    const client = clientWith();
    const tools = [search, rare(words(100))];
    const before = buckets(client.create(body(tools)));
    expect(visible(client)).toEqual(["search"]);
    const after = buckets(client.create(body(tools, [change("tool_addition", named("rare"))])));
    expect(visible(client)).toEqual(["search", "rare"]);
    expect(after.read).toBe(before.write5m);
    expect(after.input - before.input).toBeGreaterThan(100);
  });

  test("another definition of an added tool loses the cache from there on", () => {
    expect(writtenAfter("One.")).toBe(0);
    expect(writtenAfter("Two.")).toBeGreaterThan(0);
  });

  test("a removed tool is gone until it is added again, and its removal is part of the prefix", () => {
    const client = clientWith();
    const tools = [search, tool("read")];
    const removed = change("tool_removal", named("read"), marked);
    client.create(body(tools, [removed]));
    expect(visible(client)).toEqual(["search"]);
    expect(buckets(client.create(body(tools, [removed]))).write5m).toBe(0);
    const other = change("tool_removal", named("search"), marked);
    expect(buckets(client.create(body(tools, [other]))).write5m).toBeGreaterThan(0);
    client.create(body(tools, [removed, change("tool_addition", named("read"))]));
    expect(visible(client)).toEqual(["search", "read"]);
  });

  test("a whole definition needs its own beta, and then counts and is seen", () => {
    const definition = tool("fresh", { description: words(100) });
    const added = change("tool_addition", { type: "tool_definition", definition });
    expect(clientWith().create(body([search], [added])).text).toContain("inline-tools-2026-09-15");
    const client = clientWith("inline-tools-2026-09-15");
    const { input } = buckets(client.create(body([search], [added])));
    expect(visible(client)).toEqual(["search", "fresh"]);
    expect(input).toBeGreaterThan(100);
    client.create(body([search], [added, change("tool_removal", named("fresh"))]));
    expect(visible(client)).toEqual(["search"]);
    const hiddenMark = { type: "tool_definition", definition: { ...definition, ...marked } };
    const { text: refused } = client.create(body([search], [change("tool_addition", hiddenMark)]));
    expect(refused).toContain("cache_control belongs on the tool_addition");
  });

  test("elsewhere, or of tools that are not simulated, they are refused", () => {
    const inTurn = { ...change("tool_addition", named("search")), role: "user" };
    expect(clientWith().create(body([search], [inTurn])).text).toContain(
      "messages.1.content.0: tool_addition belongs in a system message",
    );
    const foreign = change("tool_addition", { type: "mcp_tool_reference", name: "x" });
    expect(clientWith().create(body([search], [foreign])).text).toContain(
      "messages.1.content.0.tool.mcp_tool_reference: not simulated",
    );
  });
});

test("not all tools may be deferred", () => {
  const { body: error } = createClient().create(body([hidden("a")]));
  expect(error.error.message).toBe(
    "At least one tool must have defer_loading=false. All tools cannot be deferred.",
  );
});

function clientWith(...betas: readonly string[]): Client {
  const client = createClient();
  client.betas = ["mid-conversation-tool-changes-2026-07-01", ...betas];
  return client;
}

function change(type: string, which: object, extra: object = {}): Any {
  return { role: "system", content: [{ type, tool: which, ...extra }] };
}

function named(name: string): Any {
  return { type: "tool_reference", name };
}

function rare(description: string): Any {
  return tool("rare", { defer_loading: true, description });
}

/** The last prompt the model got. */
function visible({ prompts }: Client): readonly string[] | undefined {
  return prompts.at(-1)?.tools.map(({ name }) => name);
}

/** The tokens written when an added tool is sent again with this description instead of "One." */
function writtenAfter(description: string): number {
  const client = clientWith();
  const added = [change("tool_addition", named("rare"), marked)];
  client.create(body([search, rare("One.")], added));
  return buckets(client.create(body([search, rare(description)], added))).write5m;
}
