import { describe, expect, test } from "vitest";
import { nothingWritten, type Written } from "../../../assembly/spelling.ts";
import type { Block, Message } from "../../../message/message.ts";
import { openaiChat } from "./index.ts";
import { readTool, say, sol, toolResult, toolUse } from "../test-kit.ts";

const spelling = openaiChat.spelling(sol);
const begun: Written = { openRole: null, lastRole: "user", blockCount: 2 };

function spelled(message: Message, written: Written = begun): string {
  return spelling
    .message(message, written)
    .blocks.map(({ json }) => json)
    .join("");
}

describe("a message of Chat Completions", () => {
  test("is one block per part, with a place for a marker before each part's brace", () => {
    expect(spelling.message(say("user", "a", "b"), nothingWritten)).toEqual({
      blocks: [
        {
          json: '{"role":"user","content":[{"type":"text","text":"a"}',
          markerFromEnd: 1,
          kind: "text",
          role: "user",
          endsMessage: false,
          content: [{ type: "text", text: "a" }],
        },
        {
          json: ',{"type":"text","text":"b"}]}',
          markerFromEnd: 3,
          kind: "text",
          role: "user",
          endsMessage: true,
          content: [{ type: "text", text: "b" }],
        },
      ],
      written: { openRole: null, lastRole: "user", blockCount: 2 },
      leftOut: [],
    });
  });

  test("of the model is one block that carries no marker", () => {
    const use = toolUse("c1", '{"a":1}');
    expect(spelling.message(say("assistant", "Hm. ", "So:", use), begun).blocks).toEqual([
      {
        json: ',{"role":"assistant","content":"Hm. So:","tool_calls":[{"id":"c1","type":"function","function":{"name":"Read","arguments":"{\\"a\\":1}"}}]}',
        markerFromEnd: null,
        kind: "tool_use",
        role: "assistant",
        endsMessage: true,
        content: [{ type: "text", text: "Hm. " }, { type: "text", text: "So:" }, use],
      },
    ]);
    expect(spelled(say("assistant", use))).toContain('"content":null,"tool_calls":[');
  });

  test("of a tool is the text of its result", () => {
    expect(spelling.message(toolResult("c1", "a", "b"), begun).blocks).toMatchObject([
      {
        json: ',{"role":"tool","tool_call_id":"c1","content":"a\\nb"}',
        markerFromEnd: null,
        kind: "tool_result",
        role: "user",
        endsMessage: true,
      },
    ]);
  });

  test("of the application among the others is a developer message", () => {
    expect(spelling.message(say("system", "Now."), begun).blocks).toMatchObject([
      {
        json: ',{"role":"developer","content":[{"type":"text","text":"Now."}]}',
        markerFromEnd: 3,
        kind: "system text",
        role: "system",
        endsMessage: true,
      },
    ]);
  });

  test.each<[Block, string]>([
    [
      { type: "image", source: { kind: "url", url: "https://x.test/a.png" } },
      '{"type":"image_url","image_url":{"url":"https://x.test/a.png"}}',
    ],
    [
      {
        type: "document",
        source: { kind: "base64", mediaType: "application/pdf", data: "AA==" },
      },
      '{"type":"file","file":{"filename":"document.pdf","file_data":"data:application/pdf;base64,AA=="}}',
    ],
    [
      { type: "document", source: { kind: "file", fileId: "file-1" } },
      '{"type":"file","file":{"file_id":"file-1"}}',
    ],
    [
      {
        type: "document",
        title: "T",
        source: { kind: "text", mediaType: "text/plain", data: "d" },
      },
      '{"type":"text","text":"T\\n\\nd"}',
    ],
    [
      { type: "text", text: "meaning", json: '{"type":"text","text":"meaning","citations":[]}' },
      '{"type":"text","text":"meaning"}',
    ],
  ])("writes a part from what it means: %j", (block, part) => {
    expect(spelled(say("user", block))).toBe(`,{"role":"user","content":[${part}]}`);
  });

  test("leaves out what it cannot carry, and says so", () => {
    const thinking: Block = { type: "thinking", text: "hm", signature: "s" };
    const foreign: Block = { type: "opaque", json: '{"id":1,"type":"server_tool_use"}' };
    const { blocks, leftOut, written } = spelling.message(
      say("assistant", thinking, foreign, ""),
      begun,
    );
    expect(blocks).toEqual([]);
    expect(written).toBe(begun);
    expect(leftOut).toEqual([
      { what: "thinking", reason: "an assistant message of Chat Completions cannot carry it" },
      {
        what: "a block of type server_tool_use",
        reason: "an assistant message of Chat Completions cannot carry it",
      },
      { what: "text", reason: "it holds no text" },
    ]);
    const image: Block = { type: "image", source: { kind: "url", url: "https://x.test" } };
    const result = spelling.message(toolResult("c1", "seen", image), begun);
    expect(result.blocks[0]?.json).toBe(',{"role":"tool","tool_call_id":"c1","content":"seen"}');
    expect(result.leftOut).toEqual([
      { what: "image", reason: "a tool message of Chat Completions carries text only" },
    ]);
    const page: Block = { type: "document", source: { kind: "url", url: "https://x.test" } };
    expect(spelling.message(say("user", "", page, "x"), begun).leftOut).toHaveLength(2);
  });

  test("keeps a provider's summary of the conversation as text", () => {
    expect(spelled(say("assistant", { type: "compaction", content: "So far." }))).toBe(
      ',{"role":"assistant","content":"So far."}',
    );
  });
});

describe("volatile text in Chat Completions", () => {
  test("that is dropped is a developer message that cannot be marked", () => {
    const { blocks, message } = spelling.volatile("noon", begun, "text");
    expect(message).toBeUndefined();
    expect(blocks).toMatchObject([
      {
        json: ',{"role":"developer","content":[{"type":"text","text":"noon"}]}',
        markerFromEnd: null,
        kind: "system text",
        role: "system",
      },
    ]);
  });

  test("that is kept gives the same bytes when its message is replayed", () => {
    const kept = spelling.volatile("noon", begun, "kept");
    expect(kept.message).toEqual(say("system", "noon"));
    expect(spelling.message(kept.message ?? say("user"), begun).blocks).toEqual(kept.blocks);
  });
});

test("tools and system text are spelled one by one", () => {
  expect(spelling.tools([readTool, readTool]).map(({ json }) => json.slice(0, 20))).toEqual([
    '{"type":"function","',
    ',{"type":"function",',
  ]);
  expect(spelling.tools([readTool])[0]).toMatchObject({
    kind: "tool definition",
    role: "tools",
    markerFromEnd: null,
  });
  const system = spelling.system([{ label: "a", tier: "T1", text: 'x"y' }]);
  expect(system).toEqual([
    {
      json: '{"role":"developer","content":[{"type":"text","text":"x\\"y"}]}',
      markerFromEnd: 3,
      kind: "system text",
      role: "system",
      endsMessage: true,
      content: [],
    },
  ]);
});
