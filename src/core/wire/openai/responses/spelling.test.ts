import { describe, expect, test } from "vitest";
import { nothingWritten, type Written } from "../../../assembly/spelling.ts";
import type { Block, Message } from "../../../message/message.ts";
import { say, sol, toolResult, toolUse } from "../test-kit.ts";
import { openaiResponses } from "./index.ts";

const spelling = openaiResponses.spelling(sol);
const begun: Written = { openRole: null, lastRole: "user", blockCount: 2 };

function opaque(json: string): Block {
  return { type: "opaque", json };
}

function spelled(message: Message): string {
  return spelling
    .message(message, begun)
    .blocks.map(({ json }) => json)
    .join("");
}

describe("a message of the Responses API", () => {
  test("of the user is one item, one block per part", () => {
    expect(spelling.message(say("user", "a", "b"), nothingWritten)).toMatchObject({
      blocks: [
        {
          json: '{"type":"message","role":"user","content":[{"type":"input_text","text":"a"}',
          markerFromEnd: 1,
          endsMessage: false,
        },
        { json: ',{"type":"input_text","text":"b"}]}', markerFromEnd: 3, endsMessage: true },
      ],
      written: { openRole: null, lastRole: "user", blockCount: 2 },
      leftOut: [],
    });
  });

  test("of the model is one item per block, and none carries a marker", () => {
    const { blocks } = spelling.message(say("assistant", "Hm.", toolUse("c1", "{}")), begun);
    expect(
      blocks.map(({ kind, role, markerFromEnd, endsMessage }) => [
        kind,
        role,
        markerFromEnd,
        endsMessage,
      ]),
    ).toEqual([
      ["text", "assistant", null, false],
      ["tool_use", "assistant", null, true],
    ]);
  });

  test("of a tool is text, or parts where it holds more", () => {
    expect(spelled(toolResult("c1", "a", "b"))).toBe(
      ',{"type":"function_call_output","call_id":"c1","output":"a\\nb"}',
    );
    expect(spelled(toolResult("c1"))).toBe(
      ',{"type":"function_call_output","call_id":"c1","output":""}',
    );
    const image: Block = { type: "image", source: { kind: "url", url: "https://x.test" } };
    expect(spelled(toolResult("c1", "seen", image))).toBe(
      ',{"type":"function_call_output","call_id":"c1","output":[{"type":"input_text","text":"seen"},{"type":"input_image","detail":"auto","image_url":"https://x.test"}]}',
    );
  });

  test.each<[Block, string]>([
    [
      { type: "image", source: { kind: "file", fileId: "file-1" } },
      '{"type":"input_image","detail":"auto","file_id":"file-1"}',
    ],
    [
      {
        type: "document",
        title: "a.pdf",
        source: { kind: "base64", mediaType: "application/pdf", data: "AA==" },
      },
      '{"type":"input_file","filename":"a.pdf","file_data":"data:application/pdf;base64,AA=="}',
    ],
    [
      { type: "document", source: { kind: "url", url: "https://x.test" } },
      '{"type":"input_file","file_url":"https://x.test"}',
    ],
    [
      { type: "document", source: { kind: "file", fileId: "file-1" } },
      '{"type":"input_file","file_id":"file-1"}',
    ],
    [
      { type: "document", source: { kind: "text", mediaType: "text/plain", data: "d" } },
      '{"type":"input_text","text":"d"}',
    ],
  ])("writes a part from what it means: %j", (block, part) => {
    expect(spelled(say("user", block))).toBe(
      `,{"type":"message","role":"user","content":[${part}]}`,
    );
  });

  test.each([
    ['{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"x"}', "thinking"],
    ['{"type":"compaction","id":"cmp_1","encrypted_content":"x"}', "other"],
    ['{"type":"custom_tool_call","call_id":"c1","name":"sh","input":"ls"}', "other"],
    ['{"type":"web_search_call","id":"ws_1"}', "other"],
    ['{"type":"message","role":"assistant","phase":"final_answer","content":[]}', "other"],
  ])("writes an item of this API as it came: %s", (json, kind) => {
    expect(spelling.message(say("assistant", opaque(json)), begun).blocks).toMatchObject([
      { json: `,${json}`, kind, markerFromEnd: null, role: "assistant", endsMessage: true },
    ]);
  });

  test("puts an item between the messages it stands between", () => {
    const update = '{"type":"configuration_update","reasoning":{"effort":"low"}}';
    expect(spelled(say("user", "a", opaque(update), "b"))).toBe(
      ',{"type":"message","role":"user","content":[{"type":"input_text","text":"a"}]}' +
        `,${update}` +
        ',{"type":"message","role":"user","content":[{"type":"input_text","text":"b"}]}',
    );
  });

  test.each([
    '{"type":"server_tool_use","id":"s"}',
    '{"type":"web_search_tool_result"}',
    '{"type":"container_upload"}',
    '{"type":"compaction","content":"in the open"}',
    '{"type":"message"}',
    "7",
  ])("leaves out another provider's block, and says so: %s", (json) => {
    const { blocks, leftOut } = spelling.message(say("assistant", opaque(json)), begun);
    expect(blocks).toEqual([]);
    expect(leftOut).toHaveLength(1);
  });

  test("leaves out thinking that is no item of this API, and says so", () => {
    const thinking: Block = { type: "thinking", text: "hm", signature: "s" };
    const redacted: Block = { type: "redacted_thinking", data: "x" };
    expect(spelling.message(say("assistant", thinking, redacted, "a"), begun).leftOut).toEqual([
      { what: "thinking", reason: "it is no output item of the Responses API" },
      { what: "redacted_thinking", reason: "it is no output item of the Responses API" },
    ]);
  });

  test("counts an item for what it says, a sealed one by its length", () => {
    const item =
      '{"type":"message","role":"assistant","phase":"commentary","content":[{"type":"output_text","text":"a"}]}';
    const sealed = '{"type":"reasoning","summary":[],"encrypted_content":"xyz"}';
    const { blocks } = spelling.message(say("assistant", opaque(sealed), opaque(item), "a"), begun);
    expect(blocks.map(({ content }) => content)).toEqual([
      [{ type: "thinking", text: "", signature: "xyz" }],
      [{ type: "text", text: "a" }],
    ]);
  });
});

test("volatile text is a developer message; kept, it is replayed with the same bytes", () => {
  const dropped = spelling.volatile("noon", begun, "system message");
  expect(dropped.blocks).toMatchObject([
    {
      json: ',{"type":"message","role":"developer","content":[{"type":"input_text","text":"noon"}]}',
      markerFromEnd: null,
      kind: "system text",
      role: "system",
    },
  ]);
  const kept = spelling.volatile("noon", begun, "kept");
  expect(spelling.message(kept.message ?? say("user"), begun).blocks).toEqual(kept.blocks);
});
