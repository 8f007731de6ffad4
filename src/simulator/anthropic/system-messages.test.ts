// Goal: system messages among the messages (providers.md §1.8). Method: place them, change them, mark them.
import { describe, expect, test } from "vitest";
import {
  buckets,
  createClient,
  marked,
  text,
  tool,
  words,
  type Any,
} from "../../../fixtures/simulator/anthropic/call-surface.ts";

const user = { role: "user", content: [text(words(400))] };
const reply = { role: "assistant", content: "ok" };
const note = { role: "system", content: "Today is Sunday." };

function sent(messages: readonly unknown[], betas: readonly string[] = []): Any {
  const client = createClient();
  client.betas = betas;
  const { status, body } = client.create({
    model: "claude-opus-5",
    max_tokens: 20,
    tools: [tool("read")],
    messages,
  });
  return status === 200 ? 200 : body.error.message;
}

describe("place", () => {
  test.each<readonly [string, readonly unknown[]]>([
    ["last, after a user turn", [user, note]],
    ["between user and assistant", [user, note, reply, user]],
    ["after another one", [user, note, note]],
    [
      "after a tool result",
      [
        user,
        { role: "assistant", content: [{ type: "tool_use", id: "a", name: "read", input: {} }] },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "a", content: "x" }] },
        note,
      ],
    ],
    [
      "after a server tool's result",
      [
        user,
        { role: "assistant", content: [{ type: "web_search_tool_result", content: [] }] },
        note,
      ],
    ],
  ])("accepted: %s", (_where, messages) => {
    expect(sent(messages)).toBe(200);
  });

  test.each<readonly [string, readonly unknown[], string]>([
    ["first", [note, user], "messages.0: a system message may not come first"],
    ["after the assistant", [user, reply, note], "messages.2: a system message must follow"],
    ["before a user turn", [user, note, user], "messages.1: a system message must be last"],
  ])("refused: %s", (_where, messages, message) => {
    expect(sent(messages)).toContain(message);
  });
});

test("a system message keeps the cache before it and can be marked itself", () => {
  const client = createClient();
  const body = { model: "claude-opus-5", max_tokens: 20 };
  const start = { role: "user", content: [text(words(400), marked)] };
  const { write5m } = buckets(client.create({ ...body, messages: [start] }));
  const noted = { role: "system", content: [text("Today is Sunday.", marked)] };
  expect(buckets(client.create({ ...body, messages: [start, noted] })).read).toBe(write5m);
  const plain = [start, note, reply, { role: "user", content: [text("and?", marked)] }];
  expect(buckets(client.create({ ...body, messages: plain })).read).toBeGreaterThan(write5m);
});

test("a message cleared at the next user turn is rendered once, and cannot be marked", () => {
  const betas = ["mid-conversation-system-clear-at-2026-08-21"];
  const once = { role: "system", content: words(60), clear_at: "next_user_message" };
  expect(sent([user, once])).toBe("messages.1.clear_at: Extra inputs are not permitted");
  expect(sent([user, once], betas)).toBe(200);
  const markedOnce = { ...once, content: [text("x", marked)] };
  expect(sent([user, markedOnce], betas)).toContain(
    "cache_control cannot be set on a system message",
  );
  const client = createClient();
  client.betas = betas;
  const tokens = (messages: readonly unknown[]): number =>
    client.count({ model: "claude-opus-5", messages }).body.input_tokens;
  expect(tokens([user, once]) - tokens([user])).toBeGreaterThan(100);
  const later = [reply, user];
  expect(tokens([user, once, ...later])).toBe(tokens([user, ...later]));
});

test("an effort for the turns to come is no part of the prompt", () => {
  const betas = ["mid-conversation-output-config-2026-07-01"];
  const effort = { role: "system", content: [], output_config: { effort: "low" } };
  expect(sent([user, effort])).toBe("messages.1.output_config: Extra inputs are not permitted");
  expect(sent([user, effort], betas)).toBe(200);
  expect(sent([user, reply, effort, user], betas)).toBe(200);
});

test("tools can be added and removed in a system message, by the names that are defined", () => {
  const betas = ["mid-conversation-tool-changes-2026-07-01"];
  expect(sent([user, removal("read")], betas)).toBe(200);
  expect(sent([user, removal("ghost")], betas)).toContain("Tool 'ghost' not found");
  expect(sent([user, removal("read")])).toContain("mid-conversation-tool-changes-2026-07-01");
});

function removal(name: string): Any {
  return {
    role: "system",
    content: [{ type: "tool_removal", tool: { type: "tool_reference", name } }],
  };
}
