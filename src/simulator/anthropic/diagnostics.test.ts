// Goal: the reasons a client gets for its own cache misses (providers.md §1.7).
import { describe, expect, test } from "vitest";
import { createClient, text, tool, words, type Any } from "./test-kit.ts";
import { createPromptCounter } from "../count-tokens.ts";
import { createPromptMemory } from "./diagnostics.ts";
import { readRequest } from "./request/read-request.ts";
import { renderPrompt } from "./render/render-prompt.ts";

const base = {
  model: "claude-opus-5",
  max_tokens: 50,
  tools: [tool("read")],
  system: "Be brief.",
  messages: [{ role: "user", content: words(50) }],
};
const optIn = { diagnostics: { previous_message_id: null } };

/** The diagnostics of the second of two requests. */
function told(change: (body: Any) => Any, betas: readonly string[] = []): Any {
  const client = createClient();
  const first = client.create({ ...base, ...optIn }).body;
  expect(first.diagnostics).toBeNull();
  client.betas = betas;
  const diagnostics = { previous_message_id: first.id };
  return client.create({ ...change(base), diagnostics }).body.diagnostics;
}

test("without a request for diagnostics there are none", () => {
  expect(createClient().create(base).body).not.toHaveProperty("diagnostics");
});

test("a conversation that only grew has not diverged", () => {
  expect(told((body) => body)).toBeNull();
  const grown = [
    { role: "assistant", content: "ok" },
    { role: "user", content: "more" },
  ];
  expect(told((body) => ({ ...body, messages: [...body.messages, ...grown] }))).toBeNull();
});

test.each<readonly [string, (body: Any) => Any]>([
  ["model_changed", (body) => ({ ...body, model: "claude-opus-4-8" })],
  ["tools_changed", (body) => ({ ...body, tools: [...body.tools, tool("write")] })],
  ["tools_changed", (body) => ({ ...body, tools: [tool("write")], system: "Be long." })],
  ["system_changed", (body) => ({ ...body, system: "Be long." })],
  ["system_changed", ({ system: _gone, ...body }) => body],
  ["messages_changed", (body) => ({ ...body, messages: [{ role: "user", content: "other" }] })],
])("the earliest divergence is named: %s", (type, change) => {
  const { cache_miss_reason: reason } = told(change);
  expect(reason.type).toBe(type);
  expect(reason.cache_missed_input_tokens).toBeGreaterThan(100);
});

test("the missed tokens are those of the previous prompt behind the divergence", () => {
  const client = createClient();
  const two = [text(words(50)), text(words(30, "second"))];
  const body = { ...base, messages: [{ role: "user", content: two }] };
  const { id } = client.create({ ...body, ...optIn }).body;
  const changed = { ...body, messages: [{ role: "user", content: [two[0], text("other")] }] };
  const { diagnostics } = client.create({
    ...changed,
    diagnostics: { previous_message_id: id },
  }).body;
  const counted = (content: unknown): number =>
    client.count({ ...body, messages: [{ role: "user", content }] }).body.input_tokens;
  expect(diagnostics.cache_miss_reason).toEqual({
    type: "messages_changed",
    cache_missed_input_tokens: counted(two) - counted([two[0]]),
  });
});

test("where only settings differ, there is no answer", () => {
  const unavailable = { cache_miss_reason: { type: "unavailable" } };
  expect(told((body) => ({ ...body, tool_choice: { type: "none" } }))).toEqual(unavailable);
  expect(told((body) => ({ ...body, thinking: { type: "disabled" } }))).toEqual(unavailable);
  const format = { type: "json_schema", schema: { type: "object" } };
  expect(told((body) => ({ ...body, output_config: { format } }))).toEqual(unavailable);
  expect(told((body) => body, ["some-beta"])).toEqual(unavailable);
});

test("an unknown message, one of another workspace, or one without diagnostics is not found", () => {
  const client = createClient();
  const notFound = { cache_miss_reason: { type: "previous_message_not_found" } };
  const after = (id: string): Any =>
    client.create({ ...base, diagnostics: { previous_message_id: id } }).body.diagnostics;
  expect(after("msg_nobody")).toEqual(notFound);
  expect(after(client.create(base).body.id)).toEqual(notFound);
  const { id } = client.create({ ...base, ...optIn }).body;
  expect(after(id)).toBeNull();
  client.workspace = "workspace-b";
  expect(after(id)).toEqual(notFound);
});

test("a stream has them in its first event", () => {
  const { text: stream } = createClient().create({ ...base, ...optIn, stream: true });
  expect(stream.split("\n\n")[0]).toContain('"diagnostics":null');
});

describe("what is remembered has a limit", () => {
  const counter = createPromptCounter();
  const limits = { promptsMax: 3, blocksMax: 100 };

  /** Stores prompts of these sizes one after another, and returns which are still known. */
  function known(sizes: readonly number[]): readonly boolean[] {
    const memory = createPromptMemory(limits);
    const ask = (messageId: string, size: number, previous: string | null): Any => {
      const content = Array.from({ length: size }, () => text("a"));
      const body = { ...base, tools: [], system: [], messages: [{ role: "user", content }] };
      const request = readRequest(
        JSON.stringify({ ...body, diagnostics: { previous_message_id: previous } }),
        { version: "2023-06-01", betas: new Set(), purpose: "create" },
      );
      const prompt = renderPrompt(request, counter);
      return memory.diagnose({ workspace: "a", messageId, request, prompt });
    };
    for (const [index, size] of sizes.entries()) ask(`msg_${index}`, size, null);
    // The newest first: each question is stored too, and drops the oldest prompt.
    const last = sizes.length - 1;
    const isKnown = (index: number): boolean =>
      ask("msg_again", 1, `msg_${index}`)?.cache_miss_reason?.type !== "previous_message_not_found";
    return [isKnown(last), isKnown(last - 1), isKnown(0)];
  }

  test("in prompts", () => {
    expect(known([1, 1, 1, 1, 1])).toEqual([true, true, false]);
  });

  test("in blocks of all prompts together", () => {
    expect(known([60, 60])).toEqual([true, false, false]);
    expect(known([40, 40])).toEqual([true, true, true]);
    // Dropped prompts make room.
    expect(known([60, 60, 30])).toEqual([true, true, false]);
  });

  test("and still holds the latest prompt, however long", () => {
    const memory = createClient();
    const content = Array.from({ length: 20_000 }, () => text("a"));
    const body = { ...base, messages: [{ role: "user", content }] };
    const { id } = memory.create({ ...body, ...optIn }).body;
    const diagnostics = { previous_message_id: id };
    expect(memory.create({ ...body, diagnostics }).body.diagnostics).toBeNull();
  });
});
