// Goal: what the rules of a server change in the bytes, and nothing else. Method: whole bodies, written out.
import { expect, test } from "vitest";
import type { ModelFacts } from "../../../models/model-facts.ts";
import { resolveModel } from "../../../models/resolve-model.ts";
import { findWire } from "../../../models/wire-rules.ts";
import { bodyText } from "../../encoded-request.ts";
import {
  encodeOf,
  planOf,
  readTool,
  say,
  toolResult,
  toolUse,
  type OpenaiSetting,
} from "../test-kit.ts";
import { openaiChat } from "./index.ts";

const plain = resolveModel("glm-5.3").facts;

function modelOn(wire: string): ModelFacts {
  const rules = findWire(wire)?.rules;
  if (rules === undefined) throw new Error(`no wire ${wire}`);
  return { ...plain, wire: rules };
}

function messagesOn(
  model: ModelFacts,
  setting: Omit<OpenaiSetting, "protocol" | "model">,
): unknown {
  const request = encodeOf({ protocol: openaiChat, model, ...setting });
  return (JSON.parse(bodyText(request.pieces)) as { readonly messages: unknown }).messages;
}

const image = {
  type: "image",
  source: { kind: "url", url: "https://example.com/a.png" },
} as const;

test("any server gets one system message, plain strings, and volatile text at the end of the last message", () => {
  const system = ["Rules.", 'Say "yes".'];
  const current = [say("user", "Hi.", "There.")];
  expect(messagesOn(modelOn("any server"), { system, current, volatile: "It is noon." })).toEqual([
    { role: "system", content: 'Rules.\n\nSay "yes".' },
    { role: "user", content: "Hi.\n\nThere.\n\nIt is noon." },
  ]);
});

test("volatile text in the system prompt continues its one message", () => {
  const place = "system-tail" as const;
  const model = modelOn("any server");
  expect(messagesOn(model, { system: ["Rules."], volatile: "It is noon.", place })).toEqual([
    { role: "system", content: "Rules.\n\nIt is noon." },
    { role: "user", content: "Hi." },
  ]);
  expect(messagesOn(model, { volatile: "It is noon.", place })).toEqual([
    { role: "system", content: "It is noon." },
    { role: "user", content: "Hi." },
  ]);
});

test("an image needs parts, and volatile text becomes one of them", () => {
  const current = [say("user", "Look.", image)];
  expect(messagesOn(modelOn("any server"), { current, volatile: "It is noon." })).toEqual([
    {
      role: "user",
      content: [
        { type: "text", text: "Look." },
        { type: "image_url", image_url: { url: "https://example.com/a.png" } },
        { type: "text", text: "\n\nIt is noon." },
      ],
    },
  ]);
});

test("system text among the messages is the user's where it is not taken", () => {
  const history = [say("user", "One."), say("assistant", "1"), say("system", "Memory changed.")];
  expect(messagesOn(modelOn("any server"), { history, current: [] })).toEqual([
    { role: "user", content: "One." },
    { role: "assistant", content: "1" },
    { role: "user", content: "Memory changed." },
  ]);
});

const loop = [
  say("user", "Read."),
  say("assistant", { type: "thinking", text: "A file." }, toolUse("toolu_01AbC", "{}")),
];

test("thinking goes back where a server demands it, also as an empty text", () => {
  const others = [say("user", "Read."), say("assistant", toolUse("t2", "{}"))];
  const spoken = (history: typeof loop): unknown =>
    messagesOn(modelOn("deepseek"), { history, current: [toolResult("t", "ok")] });
  expect(spoken(loop)).toMatchObject([{}, { content: null, reasoning_content: "A file." }, {}]);
  expect(spoken(others)).toMatchObject([{}, { reasoning_content: "" }, {}]);
  expect(JSON.stringify(messagesOn(modelOn("mistral"), { history: loop }))).not.toContain("A file");
});

test("Mistral gets ids of nine letters and digits, and an answer before the user speaks after a tool", () => {
  const current = [toolResult("toolu_01AbC", "ok"), say("user", "Stop.")];
  const messages = messagesOn(modelOn("mistral"), { history: loop, current, volatile: "Noon." });
  const [, call, result] = messages as { tool_calls: { id: string }[]; tool_call_id: string }[];
  expect(call?.tool_calls[0]?.id).toMatch(/^[a-zA-Z0-9]{9}$/);
  expect(result?.tool_call_id).toBe(call?.tool_calls[0]?.id);
  expect(messages).toMatchObject([
    { role: "user" },
    { role: "assistant" },
    { role: "tool", content: "ok" },
    { role: "assistant", content: "I have the results." },
    { role: "user", content: "Stop.\n\nNoon." },
  ]);
});

test("volatile text after a tool's result stands in it where nothing else is taken", () => {
  const current = [toolResult("toolu_01AbC", "ok")];
  const history = loop;
  expect(messagesOn(modelOn("mistral"), { history, current, volatile: "Noon." })).toMatchObject([
    { role: "user" },
    { role: "assistant" },
    { role: "tool", content: "ok\n\nNoon." },
  ]);
});

test.each([
  ["openai", "max_completion_tokens,stream,stream_options,tools,reasoning_effort,prompt_cache_key"],
  ["any server", "max_tokens,stream,stream_options,tools"],
  ["mistral", "max_tokens,stream,tools,prompt_cache_key"],
  ["openrouter", "max_tokens,stream,stream_options,tools,reasoning,prompt_cache_key"],
  ["deepseek", "max_tokens,stream,stream_options,tools,reasoning_effort"],
])("%s takes its own members, and the rest is noted", (wire, expected) => {
  const { pieces, notes } = encodeOf(
    { protocol: openaiChat, model: modelOn(wire), tools: [readTool] },
    planOf({}, { cacheKey: "k" }),
    { stream: true, effort: "high", outputSchemaJson: '{"type":"object"}' },
  );
  const names = Object.keys(JSON.parse(bodyText(pieces)) as object);
  const own = names.filter((name) => !/^(model|messages|response_format)$/.test(name));
  expect(own.toSorted()).toEqual(expected.split(",").toSorted());
  const isTaken = names.includes("response_format");
  expect(notes.some(({ detail }) => detail.startsWith("the reply's schema"))).toBe(!isTaken);
  const hasEffort = names.some((name) => name.startsWith("reasoning"));
  expect(notes.some(({ detail }) => detail.startsWith("effort"))).toBe(!hasEffort);
});
