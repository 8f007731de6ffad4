import { expect, test } from "vitest";
import type { Message, ToolUseBlock } from "../../core/message/message.ts";
import { answerTools } from "./answer-tools.ts";

const call = { sessionId: "s", turnId: "t", role: "unified" as const };
const uses: readonly ToolUseBlock[] = [
  { type: "tool_use", id: "t1", name: "look", inputJson: "{}" },
  { type: "tool_use", id: "t2", name: "look", inputJson: "{}" },
];

/** As an application without types may give it. */
function resultOf(toolUseId: string, content: unknown, more: object = {}): Message {
  return { role: "tool", content: [{ type: "tool_result", toolUseId, content, ...more }] } as never;
}

const good = [{ type: "text", text: "red" }];

test.each<[string, unknown, string]>([
  ["no content", undefined, "The tool gave no result: its result.content must be a list"],
  ["text", "red", "The tool gave no result: its result.content must be a list"],
  ["blocks that are none", [5], "The tool gave no result: its result.content.0 must be an object"],
  [
    "a block that no result can hold",
    [{ type: "tool_use", id: "x", name: "look", inputJson: "{}" }],
    "The tool gave no result: its result.content.0 a tool result cannot hold a tool_use block",
  ],
])(
  "a result with %s is told to the model as none, and the others stay",
  async (_name, content, told) => {
    const given = [resultOf("t1", content), resultOf("t2", good, { isError: false })];
    const answers = await answerTools(uses, () => Promise.resolve(given), call);
    expect(answers).toMatchObject([
      {
        content: [
          {
            toolUseId: "t1",
            isError: true,
            content: [{ type: "text", text: expect.stringContaining(told) }],
          },
        ],
      },
      { content: [{ toolUseId: "t2", isError: false, content: good }] },
    ]);
  },
);

test("a result that does not say whether it failed has not", async () => {
  const given = [resultOf("t1", good), resultOf("t2", good)];
  const answers = await answerTools(uses, () => Promise.resolve(given), call);
  expect(answers).toEqual([
    resultOf("t1", good, { isError: false }),
    resultOf("t2", good, { isError: false }),
  ]);
});
