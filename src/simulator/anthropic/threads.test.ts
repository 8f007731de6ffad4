import { expect, test } from "vitest";
import { createClient, marked, words, type Any, type Client } from "./test-kit.ts";

const threads = "message-threads-2026-08-12";
const ask = { model: "claude-opus-5-5", max_tokens: 300 };
const user = (content: string): object => ({ role: "user", content });

function startThread(): { readonly client: Client; readonly first: Any } {
  const client = createClient();
  client.betas = [threads];
  const system = [{ type: "text", text: words(3000), ...marked }];
  const thread = { type: "create" };
  const { body } = client.create({ ...ask, system, messages: [user("One")], thread });
  return { client, first: body };
}

function goOn(client: Client, messageId: string, rest: object = {}): Any {
  const thread = { type: "continue", previous_message_id: messageId };
  return client.create({ ...ask, messages: [user("Two")], ...rest, thread });
}

test("a thread goes on with the new message alone, and costs what the whole conversation costs", () => {
  const { client, first } = startThread();
  const { status, body } = goOn(client, first.id);
  expect(status).toBe(200);
  const turns = client.prompts.at(-1)?.turns.map(({ role, text }) => [role, text]);
  expect(turns).toEqual([
    ["user", "One"],
    ["assistant", first.content.at(-1).text],
    ["user", "Two"],
  ]);
  // The provider keeps no cache for a thread: only the marked system text of the first request is read.
  const replayed = client.create({
    ...ask,
    system: [{ type: "text", text: words(3000) }],
    messages: [user("One"), { role: "assistant", content: first.content }, user("Two")],
  });
  const { input_tokens: sent, cache_read_input_tokens: read } = body.usage;
  expect(sent + read).toBe(replayed.body.usage.input_tokens);
});

test("each reply can be gone on from once, by its own client, and for five minutes", () => {
  const { client, first } = startThread();
  const code = (messageId: string): string =>
    goOn(client, messageId).body.error?.details.error_code ?? "none";
  const { workspace } = client;
  client.workspace = "another";
  expect(code(first.id)).toBe("thread_not_found");
  client.workspace = workspace;
  expect(code("msg_unknown")).toBe("thread_not_found");
  client.nowMs += 5 * 60_000;
  const second = goOn(client, first.id);
  expect([second.status, code(first.id)]).toEqual([200, "thread_already_continued"]);
  client.nowMs += 5 * 60_000 + 1;
  const late = goOn(client, second.body.id);
  expect([late.status, late.body.error]).toEqual([
    404,
    {
      type: "not_found_error",
      message:
        'No thread state was found for the requested `previous_message_id`. Replay the full conversation with thread: {"type": "create"} to start a new Thread.',
      details: { error_code: "thread_not_found" },
    },
  ]);
});

test("what a thread keeps may be repeated, and not changed", () => {
  const { client, first } = startThread();
  const other = goOn(client, first.id, { system: "Another." });
  expect(other.body.error.details.error_code).toBe("thread_fingerprint_mismatch");
  const same = goOn(client, first.id, {
    system: [{ type: "text", text: words(3000), ...marked }],
  });
  expect(same.status).toBe(200);
});

test("a thread needs its beta, and takes no context management", () => {
  const client = createClient();
  const create = { ...ask, messages: [user("One")], thread: { type: "create" } };
  expect(client.create(create).body.error.message).toBe("thread: Extra inputs are not permitted");
  client.betas = [threads];
  const managed = client.create({ ...create, context_management: { edits: [] } });
  expect(managed.body.error.details).toEqual({
    error_code: "thread_unsupported_request",
    unsupported: ["context_management"],
  });
});
