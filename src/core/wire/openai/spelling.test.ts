import { describe, expect, test } from "vitest";
import { nothingWritten, type Spelled, type Written } from "../../assembly/spelling.ts";
import { decodeMessage } from "../../message/decode-message.ts";
import type { Block, Message } from "../../message/message.ts";
import { openaiChat } from "./chat/index.ts";
import { say, sol } from "./test-kit.ts";
import { openaiResponses } from "./responses/index.ts";

const begun: Written = { openRole: null, lastRole: "user", blockCount: 2 };
const text = (words: string): Block => ({ type: "text", text: words });
const image: Block = { type: "image", source: { kind: "url", url: "https://x.test/a.png" } };

function failed(...content: readonly Block[]): Message {
  return say("tool", { type: "tool_result", toolUseId: "c1", content, isError: true });
}

const chatResult = (words: string): string =>
  `,{"role":"tool","tool_call_id":"c1","content":${words}}`;
const responsesResult = (words: string): string =>
  `,{"type":"function_call_output","call_id":"c1","output":${words}}`;

describe.each([
  { protocol: openaiChat, toResult: chatResult },
  { protocol: openaiResponses, toResult: responsesResult },
])("$protocol.name", ({ protocol, toResult }) => {
  const spell = (message: Message, written: Written): Spelled =>
    protocol.spelling(sol).message(message, written);

  test.each([
    ["in words", [text("boom")], '"Error: boom"'],
    ["in the first of several texts", [text("boom"), text("bang")], '"Error: boom\\nbang"'],
    ["once only", [text("ERROR 7: boom")], '"ERROR 7: boom"'],
    ["without a text of its own", [], '"Error:"'],
  ])("a tool's failure is written %s", (_how, content, expected) => {
    const { blocks, leftOut } = spell(failed(...content), begun);
    expect(blocks.map(({ json }) => json)).toEqual([toResult(expected)]);
    expect(leftOut).toEqual([]);
  });

  test("the text about a tool's failure is counted", () => {
    const [block] = spell(failed(text("boom")), begun).blocks;
    expect(block?.content).toEqual([
      {
        type: "tool_result",
        toolUseId: "c1",
        content: [text("Error: boom")],
        isError: true,
      },
    ]);
  });

  test("text that another protocol showed for one turn is not sent again, and that is reported", () => {
    const cleared = decodeMessage(
      '{"role":"system","content":[{"type":"text","text":"It is noon."}],"clear_at":"next_user_message"}',
    );
    expect(spell(cleared, nothingWritten)).toEqual({
      blocks: [],
      written: nothingWritten,
      leftOut: [
        {
          what: "a system message",
          reason: "it was for one turn only, and here it would stay in sight",
        },
      ],
    });
  });

  test("a system message with its own text is sent", () => {
    const plain = decodeMessage('{"role":"system", "content":"Be brief."}');
    expect(spell(plain, nothingWritten).blocks).toHaveLength(1);
  });
});

test("a failure with an image has its text in a part before it", () => {
  const { blocks } = openaiResponses.spelling(sol).message(failed(image), begun);
  expect(blocks.map(({ json }) => json)).toEqual([
    responsesResult(
      '[{"type":"input_text","text":"Error:"},{"type":"input_image","detail":"auto","image_url":"https://x.test/a.png"}]',
    ),
  ]);
});
