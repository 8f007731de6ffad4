// Goal: the seeds' layouts without markers: the prefix stays the same, and what changes comes last (M-15).
import { describe, expect, test } from "vitest";
import {
  gptChat,
  gptResponses,
  large,
  longText,
  markersIn,
  send,
  small,
  type Prompt,
} from "./test-kit.ts";

const time = "Current time: 2026-11-16T10:42:00Z\nTimezone: UTC";
const stable = `${longText}\n\nSkills: pdf-forms.\n\nProject: the billing service.`;
const cacheKey: unknown = expect.stringMatching(/^strata-[0-9a-f]{32}$/);

test("metis in Chat Completions: given tools, stable text, volatile text, conversation; no marker (M-15)", () => {
  const schema = { type: "object" };
  expect(send("metis", large, gptChat).body).toEqual({
    model: "gpt-5.5",
    max_completion_tokens: 1000,
    tools: [
      {
        type: "function",
        function: { name: "search", description: longText, parameters: schema },
      },
      {
        type: "function",
        function: { name: "bash", description: "Runs it.", parameters: schema },
      },
      {
        type: "function",
        function: { name: "read_file", description: "Reads it.", parameters: schema },
      },
    ],
    messages: [
      { role: "developer", content: [{ type: "text", text: stable }] },
      { role: "developer", content: [{ type: "text", text: time }] },
      { role: "user", content: [{ type: "text", text: "Which tests fail?" }] },
      {
        role: "assistant",
        content: "I will look.",
        tool_calls: [
          {
            id: "t1",
            type: "function",
            function: { name: "bash", arguments: '{"command":"npm test"}' },
          },
          {
            id: "t2",
            type: "function",
            function: { name: "read_file", arguments: '{"path":"log.txt"}' },
          },
        ],
      },
      { role: "tool", tool_call_id: "t1", content: "2 failed" },
      { role: "tool", tool_call_id: "t2", content: "totals.test.ts, rates.test.ts" },
      { role: "assistant", content: "Two tests fail." },
      { role: "user", content: [{ type: "text", text: "Repair the first one." }] },
    ],
    prompt_cache_key: cacheKey,
  });
});

test("nexus in Responses: one system prompt, the history, the event's context before the words (M-15, C-2)", () => {
  const schema = { type: "object" };
  expect(send("nexus", large, gptResponses).body).toEqual({
    model: "gpt-5.5",
    max_output_tokens: 1000,
    store: false,
    include: ["reasoning.encrypted_content"],
    tools: [
      {
        type: "function",
        name: "search",
        description: longText,
        parameters: schema,
        strict: false,
      },
      {
        type: "function",
        name: "bash",
        description: "Runs it.",
        parameters: schema,
        strict: false,
      },
      {
        type: "function",
        name: "read_file",
        description: "Reads it.",
        parameters: schema,
        strict: false,
      },
    ],
    input: [
      { type: "message", role: "developer", content: [{ type: "input_text", text: stable }] },
      {
        type: "message",
        role: "user",
        content: [{ type: "input_text", text: "Which tests fail?" }],
      },
      {
        type: "message",
        role: "assistant",
        content: [{ type: "output_text", text: "I will look.", annotations: [] }],
      },
      {
        type: "function_call",
        call_id: "t1",
        name: "bash",
        arguments: '{"command":"npm test"}',
      },
      {
        type: "function_call",
        call_id: "t2",
        name: "read_file",
        arguments: '{"path":"log.txt"}',
      },
      { type: "function_call_output", call_id: "t1", output: "2 failed" },
      {
        type: "function_call_output",
        call_id: "t2",
        output: "totals.test.ts, rates.test.ts",
      },
      {
        type: "message",
        role: "assistant",
        content: [{ type: "output_text", text: "Two tests fail.", annotations: [] }],
      },
      {
        type: "message",
        role: "user",
        content: [{ type: "input_text", text: `${time}\n\nRepair the first one.` }],
      },
    ],
    prompt_cache_key: cacheKey,
  });
});

const wires = { "Chat Completions": gptChat, Responses: gptResponses };
const newFoundation = [
  { name: "metis", system: [stable, time] },
  { name: "nexo", system: [longText, "Skills: pdf-forms.", "Project: the billing service.", time] },
  {
    name: "hermes",
    system: [`${longText}\n\nSkills: pdf-forms.`, "Project: the billing service.", time],
  },
  { name: "nexus", system: [stable] },
] as const;

describe.each(Object.entries(wires))("in %s", (_wireName, wire) => {
  describe.each(newFoundation)("$name", ({ name, system }) => {
    test("has its system text in the order stable, volatile before everything else (M-15)", () => {
      const { body } = send(name, large, wire);
      expect(systemTexts(body["messages"] ?? body["input"])).toEqual(system);
    });

    test("sends no marker for a small prompt nor for a large one, and the plan says why (M-15, M-18)", () => {
      for (const prompt of [small, large]) {
        const { body, plan } = send(name, prompt, wire);
        expect(markersIn(body)).toEqual({});
        expect(plan.dropped.length).toBeGreaterThan(0);
        expect(new Set(plan.dropped.map(({ reason }) => reason))).toEqual(
          new Set(["the provider takes no markers"]),
        );
      }
    });

    test("keeps every byte before the volatile text when it changes (M-15)", () => {
      const before = send(name, large, wire).text;
      const after = send(name, atNoon(large), wire).text;
      const prefix = before.slice(0, before.indexOf("T10:42"));
      expect(prefix.length).toBeGreaterThan(longText.length * 2);
      expect(after.startsWith(`${prefix}T12:00`)).toBe(true);
    });
  });
});

/** The texts of the developer messages at the beginning. */
function systemTexts(messages: unknown): readonly unknown[] {
  if (!Array.isArray(messages)) return [];
  const end = messages.findIndex(({ role }) => role !== "developer");
  return messages.slice(0, end).flatMap(({ content }) => content.map(({ text }: TextPart) => text));
}

interface TextPart {
  readonly text: unknown;
}

function atNoon(prompt: Prompt): Prompt {
  const sections = prompt.sections.map((each) => ({
    ...each,
    text: each.text.replace("T10:42", "T12:00"),
  }));
  return { ...prompt, sections };
}
