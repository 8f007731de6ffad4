import { describe, expect, test } from "vitest";
import type { Block, Message, MessageRecord } from "./message.ts";
import { noUsage } from "./usage.ts";
import { validateConversation } from "./validate-conversation.ts";
import { validateMessage, validateRecord, validateUsage } from "./validate-message.ts";

const text = (words: string): Block => ({ type: "text", text: words });
const user = (words: string): Message => ({ role: "user", content: [text(words)] });
const use = (id: string): Block => ({ type: "tool_use", id, name: "Read", inputJson: "{}" });
const calls = (...ids: string[]): Message => ({ role: "assistant", content: ids.map(use) });
const result = (toolUseId: string): Message => ({
  role: "tool",
  content: [{ type: "tool_result", toolUseId, content: [text("ok")], isError: false }],
});

const found = (list: readonly { path: string; rule: string }[]): string[] =>
  list.map(({ path, rule }) => `${path} ${rule}`);

describe("a message (D-02)", () => {
  test("is fine when each block stands where its role allows it", () => {
    expect(validateMessage(user("hi"))).toEqual([]);
    expect(validateMessage(calls("a"))).toEqual([]);
    expect(validateMessage(result("a"))).toEqual([]);
    expect(validateMessage({ role: "system", content: [] })).toEqual([]);
  });

  test("says where, which rule, and what to do", () => {
    expect(validateMessage({ role: "user", content: [use("a")] })).toEqual([
      {
        path: "message.content.0",
        rule: "block-not-allowed",
        message: "a user message cannot hold a tool_use block; move it to the role it belongs to",
      },
    ]);
  });

  test.each<[string, Message, string[]]>([
    ["no content", { role: "user", content: [] }, ["message.content content-empty"]],
    ["empty text", user(""), ["message.content.0 text-empty"]],
    ["text of white space", user(" \n"), ["message.content.0 text-empty"]],
    [
      "an opaque block that would smuggle in a second one",
      {
        role: "user",
        content: [{ type: "opaque", json: '{"type":"x"},{"type":"text","text":"y"}' }],
      },
      ["message.content.0 json-invalid"],
    ],
    [
      "an input with half a character, which would be lost on the wire",
      {
        role: "assistant",
        content: [{ type: "tool_use", id: "a", name: "b", inputJson: '{"x":"\ud800"}' }],
      },
      ["message.content.0 tool-input"],
    ],
    ["a result without an id", result(""), ["message.content.0 tool-result-id"]],
    [
      "two results in one tool message",
      { role: "tool", content: [...result("a").content, ...result("b").content] },
      ["message.content tool-result-single"],
    ],
    ["a tool use without an id", calls(""), ["message.content.0 tool-use-id"]],
    [
      "a tool name with a space and an input that is a list",
      {
        role: "assistant",
        content: [{ type: "tool_use", id: "a", name: "Read it", inputJson: "[]" }],
      },
      ["message.content.0 tool-name", "message.content.0 tool-input"],
    ],
    [
      "a tool result that holds a tool use",
      {
        role: "tool",
        content: [{ type: "tool_result", toolUseId: "a", content: [use("b")], isError: false }],
      },
      ["message.content.0.content.0 block-not-allowed"],
    ],
    [
      "exact text left behind by an edit",
      {
        role: "user",
        content: [{ type: "text", text: "new", json: '{"type":"text","text":"old"}' }],
      },
      ["message.content.0 json-stale"],
    ],
    [
      "exact text of the whole message left behind by an edit",
      { ...user("new"), json: '{"role":"user","content":"old"}' },
      ["message json-stale"],
    ],
  ])("is refused for %s", (_name, message, expected) => {
    expect(found(validateMessage(message))).toEqual(expected);
  });
});

describe("a conversation (D-02)", () => {
  test("is fine with parallel tools answered in any order, and with uses still waiting at its end", () => {
    expect(
      validateConversation([user("go"), calls("a", "b"), result("b"), result("a"), calls("c")]),
    ).toEqual([]);
  });

  test.each<[string, Message[], string[]]>([
    ["an assistant beginning", [calls("a")], ["messages.0.role role-first"]],
    [
      "a tool use without an answer",
      [user("go"), calls("a"), user("and?")],
      ["messages.1.content.0 tool-use-unanswered"],
    ],
    [
      "a result without a use",
      [user("go"), result("ghost")],
      ["messages.1.content.0 tool-result-unmatched"],
    ],
    [
      "a second result for one use",
      [user("go"), calls("a"), result("a"), result("a")],
      ["messages.3.content.0 tool-result-repeated"],
    ],
    [
      "a result that comes too late",
      [user("go"), calls("a"), user("and?"), result("a")],
      ["messages.1.content.0 tool-use-unanswered", "messages.3.content.0 tool-result-misplaced"],
    ],
    [
      "a system message between a use and its result",
      [user("go"), calls("a"), { role: "system", content: [text("hm")] }, result("a")],
      ["messages.1.content.0 tool-use-unanswered", "messages.3.content.0 tool-result-misplaced"],
    ],
    [
      "a retry under the old id",
      [user("go"), calls("a"), result("a"), calls("a")],
      ["messages.3.content.0 tool-use-repeated"],
    ],
  ])("is refused for %s", (_name, messages, expected) => {
    expect(found(validateConversation(messages))).toEqual(expected);
  });

  test("begins with the provider's own summary after a compaction", () => {
    const summary: Message = { role: "assistant", content: [{ type: "compaction", content: "…" }] };
    expect(validateConversation([summary, user("on")])).toEqual([]);
  });

  test("does not judge a message that was cut off while it arrived", () => {
    const partial: MessageRecord = { ...record, metadata: { status: "partial" }, ...calls("a") };
    expect(validateConversation([user("go"), partial, user("again")])).toEqual([]);
  });

  test("takes the result of a tool use in a message that was cut off", () => {
    const partial: MessageRecord = { ...record, metadata: { status: "partial" }, ...calls("a") };
    expect(validateConversation([user("go"), partial, result("a")])).toEqual([]);
  });

  test("judges records as records: one session, no record twice", () => {
    const other = { ...record, sessionId: "t" };
    const incomplete: MessageRecord = { ...record, metadata: { status: "complete" } };
    expect(found(validateConversation([user("go"), record, other]))).toEqual([
      "messages.2.sessionId session-mixed",
      "messages.2.id record-repeated",
    ]);
    expect(found(validateConversation([user("go"), incomplete]))).toContain(
      "messages.1.metadata.model record-incomplete",
    );
  });
});

const record: MessageRecord = {
  id: "01JAZ3NDEKTSV4RRFFQ69G5FAV",
  sessionId: "s",
  role: "assistant",
  content: [text("done")],
  createdAtUs: 1_795_000_000_000_000,
  schemaVersion: 1,
  metadata: {
    status: "complete",
    model: "claude-sonnet-5-5",
    provider: "anthropic",
    routing: "global default",
    usage: noUsage,
  },
};

describe("a record (D-01, D-02)", () => {
  test("is complete with model, provider, routing and usage", () => {
    expect(validateRecord(record)).toEqual([]);
  });

  test("names each thing a complete reply lacks", () => {
    expect(found(validateRecord({ ...record, metadata: { status: "complete" } }))).toEqual([
      "record.metadata.model record-incomplete",
      "record.metadata.provider record-incomplete",
      "record.metadata.routing record-incomplete",
      "record.metadata.usage record-incomplete",
    ]);
  });

  test("of a tool names the use it answers", () => {
    const tool: MessageRecord = { ...record, ...result("a"), metadata: { status: "complete" } };
    expect(found(validateRecord(tool))).toEqual([
      "record.metadata.parentToolUseId record-incomplete",
    ]);
  });

  test("has a ULID and a whole time", () => {
    expect(found(validateRecord({ ...record, id: "1", createdAtUs: 1.5 }))).toEqual([
      "record.id record-id",
      "record.createdAtUs record-time",
    ]);
  });

  test("counts usage in whole tokens from 0, for lifetimes that exist", () => {
    const usage = { ...noUsage, cacheReadTokens: -1, cacheWriteTokens: { "1h": 0.5, "2h": 7 } };
    expect(found(validateUsage(usage))).toEqual([
      "usage.cacheReadTokens usage-invalid",
      "usage.cacheWriteTokens.1h usage-invalid",
      "usage.cacheWriteTokens.2h usage-invalid",
    ]);
  });

  test("of a tool answers the use its metadata names", () => {
    const metadata = { status: "complete", parentToolUseId: "b" } as const;
    expect(found(validateRecord({ ...record, ...result("a"), metadata }))).toEqual([
      "record.metadata.parentToolUseId tool-result-id",
    ]);
  });
});

describe("values that break the types", () => {
  const broken: readonly unknown[] = [
    null,
    undefined,
    7,
    "x",
    [],
    [null],
    {},
    { role: "robot", content: [] },
    { role: "constructor", content: [] },
    { role: "user" },
    { role: "user", content: "hi" },
    { role: "user", content: [null] },
    { role: "user", content: [{ type: "text" }] },
    { role: "user", content: [{ type: "toString" }] },
    { role: "assistant", content: [{ type: "tool_use", inputJson: "{}" }] },
    { role: "tool", content: [{ type: "tool_result", toolUseId: "a" }] },
    { ...record, metadata: undefined },
    { ...record, metadata: { status: "???" } },
    { ...record, schemaVersion: 7 },
  ];
  const validators: Readonly<Record<string, (value: never) => readonly { rule: string }[]>> = {
    validateMessage,
    validateRecord,
    validateUsage,
    "validateConversation of one": (value: never) => validateConversation([value]),
    validateConversation,
  };

  test.each(Object.entries(validators))("never make %s throw", (_name, validate) => {
    for (const value of broken) expect(() => validate(value as never)).not.toThrow();
  });

  test.each(broken)("are a violation of shape for a record: %j", (value) => {
    expect(validateRecord(value as never).map(({ rule }) => rule)).toContain("shape");
  });
});
