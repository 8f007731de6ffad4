import { describe, expect, test } from "vitest";
import { lintRules } from "./lint-finding.ts";
import { lintRequest } from "./lint-request.ts";
import { readRequest } from "../wire/foreign/read-request.ts";
import { gpt, marker, messagesBody, sonnet, textOf, tool, type MessagesBody } from "./test-kit.ts";
import { findVolatile } from "./volatile-text.ts";

const lint = (change: (body: MessagesBody) => unknown): unknown[] =>
  lintRequest(messagesBody(change), sonnet).map(({ rule, severity, path }) => [
    rule,
    severity,
    path,
  ]);

const withSystem = (text: string) => (body: MessagesBody) => {
  body.system = [{ type: "text", text: `${textOf(2000, "rule")} ${text}`, ...marker }];
};

const hour = { cache_control: { type: "ephemeral", ttl: "1h" } };

test("a request as it should be has no findings", () => {
  expect(lint(() => {})).toEqual([]);
});

describe.each<[string, (body: MessagesBody) => unknown, unknown[]]>([
  ["a time of day", withSystem("It is 2026-11-15T08:30:12Z."), [["clock", "warning", "system.0"]]],
  ["milliseconds since 1970", withSystem("t=1794744000000"), [["clock", "warning", "system.0"]]],
  ["a UUID", withSystem("6f1c2b5e-0d3a-4c8b-9a77-1f2e3d4c5b6a"), [["uuid", "warning", "system.0"]]],
  ["random digits", withSystem("run 9f86d081884c7d65"), [["random-id", "warning", "system.0"]]],
  ["a random id", withSystem("sess_01HqT7xPz4Kd93BvWm2y"), [["random-id", "warning", "system.0"]]],
  ["a date without a time", withSystem("Today is 2026-11-15."), []],
  [
    "a clock in a tool",
    (body) => (body.tools = [tool("Bash", { description: "Now: 12:30:01" })]),
    [["clock", "warning", "tools.0"]],
  ],
  [
    "unsorted tools",
    (body) => (body.tools = [tool("Read"), tool("Bash")]),
    [["tools-unsorted", "info", "tools.1"]],
  ],
  [
    "a clock before the last marker",
    (body) => (body.messages[0]!.content = "Sent at 12:30 PM: hello"),
    [["volatile-before-marker", "info", "messages.0.content.0"]],
  ],
  [
    "a clock in the marked block",
    (body) =>
      (body.messages.at(-1)!.content = [{ type: "text", text: "It is 12:30:59", ...marker }]),
    [["marker-on-changing-block", "warning", "messages.2.content.0"]],
  ],
  [
    "a clock behind the last marker",
    (body) => body.messages.push({ role: "user", content: "It is 12:30:59" }),
    [],
  ],
  ["a clock in what the model said", (body) => (body.messages[1]!.content = "It is 12:30:59"), []],
  [
    "a marker below the minimum",
    (body) => (body.tools = [tool("Bash"), tool("Read", marker)]),
    [["marker-below-minimum", "warning", "tools.1"]],
  ],
  [
    "a longer lifetime after a shorter one",
    (body) => (body.messages.at(-1)!.content = [{ type: "text", text: "Go", ...hour }]),
    [["lifetime-order", "error", "messages.2.content.0"]],
  ],
  [
    "a longer lifetime for the whole request",
    (body) => (body["cache_control"] = hour.cache_control),
    [["lifetime-order", "error", "cache_control"]],
  ],
  [
    "five markers",
    (body) =>
      (body.messages[0]!.content = Array.from({ length: 3 }, () => ({
        type: "text",
        text: "Hi",
        ...marker,
      }))),
    [["too-many-markers", "error", "messages.2.content.0"]],
  ],
  [
    "a marker on thinking",
    (body) =>
      (body.messages[1]!.content = [
        { type: "thinking", thinking: "Hm", signature: "s", ...marker },
      ]),
    [["marker-not-taken", "error", "messages.1.content.0"]],
  ],
  [
    "a marker on a deferred tool",
    (body) => body.tools.push(tool("Web", { defer_loading: true, ...marker })),
    [["marker-not-taken", "error", "tools.2"]],
  ],
  [
    "no marker at all",
    (body) => {
      body.system = [{ type: "text", text: textOf(2000, "rule") }];
      body.messages = [{ role: "user", content: "Hi" }];
    },
    [["no-marker", "warning", ""]],
  ],
  [
    "no marker on a prompt that is too short anyway",
    (body) => {
      body.system = [];
      body.messages = [{ role: "user", content: "Hi" }];
    },
    [],
  ],
])("%s", (_name, change, expected) => {
  test("is found where it stands, with its severity", () => {
    expect(lint(change)).toEqual(expected);
  });
});

describe("other providers", () => {
  test("one that keeps prefixes by itself needs no marker", () => {
    const body = JSON.stringify({ model: "gpt-6.1-sol", input: textOf(3000) });
    expect(lintRequest(body)).toEqual([]);
    expect(lintRequest(readRequest(body), gpt)).toEqual([]);
  });

  test("a model that takes no markers is reported", () => {
    const content = [{ type: "text", text: textOf(3000), prompt_cache_breakpoint: {} }];
    const body = { model: "gpt-4.1", messages: [{ role: "user", content }] };
    expect(lintRequest(JSON.stringify(body))).toMatchObject([
      { rule: "marker-not-taken", severity: "warning", message: "this model takes no markers" },
    ]);
  });

  test("an unknown model is checked for text only, and that is reported", () => {
    const body = {
      model: "brandnew-1",
      messages: [
        { role: "system", content: "It is 12:30:59" },
        { role: "user", content: "Hi" },
      ],
    };
    expect(lintRequest(JSON.stringify(body)).map(({ rule }) => rule)).toEqual([
      "unknown-model",
      "clock",
    ]);
  });
});

test("findings of one kind are counted beyond twenty", () => {
  const findings = lintRequest(
    messagesBody((body) => {
      body.system = Array.from({ length: 50 }, (_, second) => ({
        type: "text",
        text: `${textOf(50)} 12:30:${second + 10}`,
        ...(second === 49 ? marker : {}),
      }));
    }),
  );
  expect(findings).toHaveLength(21);
  expect(findings.at(-1)).toMatchObject({ rule: "clock", message: "30 more of this kind" });
});

test("excerpts in messages are made safe to print", () => {
  const [finding] = lintRequest(messagesBody(withSystem("\u001b[2J 12:30:59")));
  expect(finding?.message).toContain(String.raw`\u{1b}[2J 12:30:59`);
});

test("every rule has a name of its own", () => {
  expect(new Set(lintRules).size).toBe(12);
});

describe("volatile text in a megabyte of", () => {
  const megabyte = 1_000_000;
  test.each([
    ["letters", "a".repeat(megabyte)],
    ["dashes", "-".repeat(megabyte)],
    ["digits", "1".repeat(megabyte)],
    ["hexadecimal digits", "0a".repeat(megabyte / 2)],
    ["spaces", " ".repeat(megabyte)],
    ["colons", "12:".repeat(megabyte / 3)],
    ["beginnings of dates", "2026-11-".repeat(megabyte / 8)],
    ["beginnings of UUIDs", "6f1c2b5e-0d3a-".repeat(megabyte / 14)],
  ])("%s is nothing", (_name, text) => {
    expect(findVolatile(text)).toEqual([]);
  });

  test("a clock behind it is still found", () => {
    expect(findVolatile(`${"a".repeat(megabyte)} 12:30:59`)).toEqual([
      { kind: "clock", at: megabyte + 1, text: "12:30:59" },
    ]);
  });
});
