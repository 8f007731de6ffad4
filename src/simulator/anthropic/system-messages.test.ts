// Goal: system messages among the messages (providers.md §1.8). Method: place them, change them, mark them.
import { describe, expect, test } from "vitest";
import { buckets, createClient, marked, text, tool, words, type Any } from "./test-kit.ts";

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

describe("an effort for the turns to come", () => {
  const betas = ["mid-conversation-output-config-2026-07-01"];
  const low = effort("low");

  test("may stand anywhere, with its beta", () => {
    expect(sent([user, low])).toBe("messages.1.output_config: Extra inputs are not permitted");
    expect(sent([user, low], betas)).toBe(200);
    expect(sent([user, reply, low, user], betas)).toBe(200);
    expect(sent([user, effort("huge")], betas)).toContain("messages.1.output_config.effort: Input");
  });

  test("costs nothing, wherever it stands", () => {
    const client = createClient();
    client.betas = betas;
    const tokens = (messages: readonly unknown[]): number =>
      client.count({ model: "claude-opus-5", messages }).body.input_tokens;
    expect(tokens([user, low, reply, user])).toBe(tokens([user, reply, user]));
    expect(tokens([user, low, user])).toBe(tokens([user, user]));
    expect(tokens([low, user])).toBe(tokens([user]));
  });

  test("keeps the cache when sent again, and loses what is behind it when edited or deleted", () => {
    const start = { role: "user", content: [text(words(400), marked)] };
    const end = { role: "user", content: [text(words(50), marked)] };
    const readings = (second: readonly unknown[]): readonly number[] => {
      const client = createClient();
      client.betas = betas;
      const body = { model: "claude-opus-5", max_tokens: 20 };
      const first = client.create({ ...body, messages: [start, reply, low, end] });
      const { read } = buckets(client.create({ ...body, messages: second }));
      return [read, buckets(first).write5m, client.records[0]?.bill.markers[0]?.tokens ?? 0];
    };
    const [same, written] = readings([start, reply, low, end]);
    expect(same).toBe(written);
    for (const changed of [[effort("high")], [], [low, low]]) {
      const [read, , untilStart] = readings([start, reply, ...changed, end]);
      expect(read).toBe(untilStart);
    }
  });
});

test("tools can be added and removed in a system message, by the names that are defined", () => {
  const betas = ["mid-conversation-tool-changes-2026-07-01"];
  expect(sent([user, removal("read")], betas)).toBe(200);
  expect(sent([user, removal("ghost")], betas)).toContain("Tool 'ghost' not found");
  expect(sent([user, removal("read")])).toContain("mid-conversation-tool-changes-2026-07-01");
});

function effort(level: string): Any {
  return { role: "system", content: [], output_config: { effort: level } };
}

function removal(name: string): Any {
  return {
    role: "system",
    content: [{ type: "tool_removal", tool: { type: "tool_reference", name } }],
  };
}
