import { describe, expect, test } from "vitest";
import { itemsOf } from "../growing/growing-list.ts";
import { createRequest } from "../message/canonical-request.ts";
import { toSpelling } from "../wire/anthropic-messages/spelling.ts";
import { haiku, say, tool } from "../wire/anthropic-messages/test-kit.ts";
import { assembleRequest, type RequestSetting } from "./canonical.ts";

const setting: RequestSetting = {
  layout: {
    systemBlocks: "by stability",
    volatile: "message-tail",
    padding: "off",
    toolOrder: "sorted",
  },
  spelling: toSpelling(haiku),
  counter: { text: (words) => words.length, message: ({ content }) => content.length },
  model: haiku,
};

const request = createRequest({
  requestId: "01HZZZ",
  model: "anthropic:claude-haiku-4-5",
  messages: [
    say("user", "One."),
    say("assistant", "Two."),
    say("user", "Three."),
    say("user", "Four."),
  ],
  maxOutputTokens: 100,
  tools: [tool("b"), tool("a")],
  systemPrompt: "Rules.",
  systemPromptVolatile: "It is noon.",
});

function shapeOf(assembly: ReturnType<typeof assembleRequest>): string {
  return [...itemsOf(assembly.blocks)].map(({ tier, kind }) => `${tier} ${kind}`).join(", ");
}

const namesOf = (toolOrder: "sorted" | "given"): readonly string[] => {
  const layout = { ...setting.layout, toolOrder };
  const { thread } = assembleRequest(request, { ...setting, layout });
  return thread.foundation.tools.map(({ name }) => name);
};

describe("a request of two segments", () => {
  test("is assembled with its stable text static and its volatile text where the layout says (M-05)", () => {
    expect(shapeOf(assembleRequest(request, setting))).toBe(
      "T0 tool definition, T0 tool definition, T1 system text, T3 text, T3 text, T4 text, T4 text, T5 text",
    );
    const literal = { ...setting.layout, volatile: "system-tail" } as const;
    expect(shapeOf(assembleRequest(request, { ...setting, layout: literal }))).toBe(
      "T0 tool definition, T0 tool definition, T1 system text, T5 system text, T3 text, T3 text, T4 text, T4 text",
    );
  });

  test("has its tools sorted or as given, as the layout says", () => {
    expect(namesOf("sorted")).toEqual(["a", "b"]);
    expect(namesOf("given")).toEqual(["b", "a"]);
  });

  test("without system text and history is its message alone", () => {
    const bare = { ...request, tools: [], systemPrompt: " ", systemPromptVolatile: null };
    const messages = [say("user", "Hi.")];
    expect(shapeOf(assembleRequest({ ...bare, messages }, setting))).toBe("T4 text");
  });
});
