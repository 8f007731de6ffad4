import { describe, expect, test } from "vitest";
import { nothingWritten, type SpelledBlock, type Written } from "../../assembly/spelling.ts";
import { decodeMessage } from "../../message/decode-message.ts";
import { memoryToolDefinition } from "../../memory/memory-tool.ts";
import type { Message } from "../../message/message.ts";
import { encodeToolDefinition } from "../../message/tool-definition.ts";
import { resolveModel } from "../../models/resolve-model.ts";
import { toSpelling } from "./spelling.ts";
import { haiku, say, sonnet, text, tool, toolResult, toolUse } from "./test-kit.ts";

const spelling = toSpelling(sonnet);

function write(messages: readonly Message[], from: Written = nothingWritten) {
  const blocks: SpelledBlock[] = [];
  let written = from;
  const leftOut: string[] = [];
  for (const message of messages) {
    const spelled = spelling.message(message, written);
    blocks.push(...spelled.blocks);
    leftOut.push(...spelled.leftOut.map(({ what, reason }) => `${what}: ${reason}`));
    written = spelled.written;
  }
  return { blocks, written, leftOut, json: blocks.map(({ json }) => json) };
}

describe("tools and system text", () => {
  test.each([
    ["claude-sonnet-4-6", true],
    ["claude-opus-5-5", true],
    ["bedrock/claude-sonnet-4-6", false],
    ["vertex/claude-sonnet-4-6", false],
    ["openrouter/anthropic/claude-sonnet-4-6", false],
    ["claude-3-haiku", false],
  ])("%s knows the memory tool by its name: %s", (name, isKnown) => {
    const [block] = toSpelling(resolveModel(name).facts).tools([memoryToolDefinition]);
    expect(block?.json).toBe(
      isKnown
        ? '{"type":"memory_20250818","name":"memory"}'
        : encodeToolDefinition(memoryToolDefinition),
    );
  });

  test("are joined by commas and can each carry a marker", () => {
    expect(spelling.tools([tool("a"), tool("b")])).toEqual([
      {
        json: '{"name":"a","description":"Does it.","input_schema":{"type":"object"}}',
        markerFromEnd: 1,
        kind: "tool definition",
        role: "tools",
        endsMessage: false,
        content: [],
      },
      {
        json: ',{"name":"b","description":"Does it.","input_schema":{"type":"object"}}',
        markerFromEnd: 1,
        kind: "tool definition",
        role: "tools",
        endsMessage: false,
        content: [],
      },
    ]);
    const system = spelling.system([
      { label: "static", tier: "T1", text: 'Say "yes".' },
      { label: "session", tier: "T2", text: "é" },
    ]);
    expect(system.map(({ json, kind, role }) => [json, kind, role])).toEqual([
      ['{"type":"text","text":"Say \\"yes\\"."}', "system text", "system"],
      [',{"type":"text","text":"é"}', "system text", "system"],
    ]);
  });
});

describe("messages", () => {
  test("are left open, so that the next one only has to append", () => {
    const { json, written } = write([
      say("user", "Hi.", "There."),
      say("assistant", "Yes?"),
      say("user", "Bye."),
    ]);
    expect(json).toEqual([
      '{"role":"user","content":[{"type":"text","text":"Hi."}',
      ',{"type":"text","text":"There."}',
      ']},{"role":"assistant","content":[{"type":"text","text":"Yes?"}',
      ']},{"role":"user","content":[{"type":"text","text":"Bye."}',
    ]);
    expect(written).toEqual({ openRole: "user", lastRole: "user", blockCount: 4 });
  });

  test("of tools and of the user are one message, with the results in front (M-14)", () => {
    const { blocks, json } = write([
      say("assistant", toolUse("t1", "{}"), toolUse("t2", "{}")),
      say("tool", toolResult("t1", "one")),
      say("tool", toolResult("t2", "two")),
      say("user", "Go on."),
    ]);
    expect(json.slice(2)).toEqual([
      ']},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"one"}]}',
      ',{"type":"tool_result","tool_use_id":"t2","content":[{"type":"text","text":"two"}]}',
      ',{"type":"text","text":"Go on."}',
    ]);
    expect(blocks.map(({ endsMessage }) => endsMessage)).toEqual([false, true, true, true, true]);
    expect(blocks.map(({ role }) => role)).toEqual([
      "assistant",
      "assistant",
      "user",
      "user",
      "user",
    ]);
  });

  test("of the assistant that follow each other are one message", () => {
    expect(write([say("assistant", "A"), say("assistant", "B")]).json).toEqual([
      '{"role":"assistant","content":[{"type":"text","text":"A"}',
      ',{"type":"text","text":"B"}',
    ]);
  });

  test("of the system each stand by themselves", () => {
    const { json } = write([
      say("user", "Hi."),
      say("system", "One."),
      say("system", "Two."),
      say("assistant", "Yes?"),
    ]);
    expect(json).toEqual([
      '{"role":"user","content":[{"type":"text","text":"Hi."}',
      ']},{"role":"system","content":[{"type":"text","text":"One."}',
      ']},{"role":"system","content":[{"type":"text","text":"Two."}',
      ']},{"role":"assistant","content":[{"type":"text","text":"Yes?"}',
    ]);
  });

  test("of the system that came as a text of their own are written as that text, and closed", () => {
    const effort = decodeMessage('{"role":"system","content":[],"output_config":{"effort":"low"}}');
    const { blocks, json } = write([say("user", "Hi."), effort, say("assistant", "Yes?")]);
    expect(json).toEqual([
      '{"role":"user","content":[{"type":"text","text":"Hi."}',
      ']},{"role":"system","content":[],"output_config":{"effort":"low"}}',
      ',{"role":"assistant","content":[{"type":"text","text":"Yes?"}',
    ]);
    expect(blocks[1]).toMatchObject({ kind: "text", markerFromEnd: null, endsMessage: true });
  });

  test("of the system are left out where the model takes none, and that is reported", () => {
    const spelled = toSpelling(haiku).message(say("system", "Now."), nothingWritten);
    expect(spelled).toEqual({
      blocks: [],
      written: nothingWritten,
      leftOut: [{ what: "a system message", reason: "the model takes none among the messages" }],
    });
  });

  test("of which nothing remains write nothing", () => {
    const { json, written, leftOut } = write([say("user", "")]);
    expect(json).toEqual([]);
    expect(written).toEqual(nothingWritten);
    expect(leftOut).toEqual(["a block of type text: the provider refuses text without a word"]);
  });

  test("report members that have no place in them", () => {
    const { json, leftOut } = write([decodeMessage('{"role":"user","content":"Hi.","id":7}')]);
    expect(json).toEqual(['{"role":"user","content":[{"type":"text","text":"Hi."}']);
    expect(leftOut).toEqual(["id of a message: only a system message may have it"]);
  });
});

describe("blocks", () => {
  const kinds = [
    ["text", text("hm"), "text", 1],
    ["an image", { type: "image", source: { kind: "url", url: "https://x.test" } }, "image", 1],
    ["a document", { type: "document", source: { kind: "file", fileId: "f" } }, "document", 1],
    ["a tool use", toolUse("t", '{"a":1.0}'), "tool_use", 1],
    ["a tool result", toolResult("t", ""), "tool_result", 1],
    ["thinking", { type: "thinking", text: "hm", signature: "s" }, "thinking", null],
    ["hidden thinking", { type: "redacted_thinking", data: "x" }, "redacted_thinking", null],
    ["a compaction", { type: "compaction", content: "so far" }, "compaction", 1],
    ["a server's tool use", opaque("server_tool_use"), "server tool block", 1],
    ["an MCP tool use", opaque("mcp_tool_use"), "server tool block", 1],
    ["a server's result", opaque("web_search_tool_result"), "server tool block", 1],
    ["an uploaded file", opaque("container_upload"), "server tool block", 1],
    ["a reference to a tool", opaque("tool_reference"), "server tool block", 1],
    ["a search result", opaque("search_result"), "document", 1],
    ["an unknown block", opaque("hologram"), "other", 1],
    [
      "thinking in another shape",
      { type: "opaque", json: '{"type":"thinking","thinking":null,"signature":"s"}' },
      "thinking",
      null,
    ],
    ["a block without a type", { type: "opaque", json: "{}" }, "other", null],
  ] as const;

  test.each(kinds)("%s is known by its kind", (_name, block, kind, markerFromEnd) => {
    const [spelled] = write([{ role: "user", content: [block] }]).blocks;
    expect(spelled).toMatchObject({ kind, markerFromEnd, content: [block] });
  });

  test.each([
    "reasoning",
    "message",
    "item_reference",
    "function_call",
    "function_call_output",
    "custom_tool_call",
    "custom_tool_call_output",
    "web_search_call",
    "compaction",
  ])("a %s item of another protocol is left out and reported", (type) => {
    const { json, leftOut } = write([say("assistant", "A", opaque(type), "B")]);
    expect(json).toEqual([
      '{"role":"assistant","content":[{"type":"text","text":"A"}',
      ',{"type":"text","text":"B"}',
    ]);
    expect(leftOut).toEqual([`a block of type ${type}: it belongs to another protocol`]);
  });

  test("a block that only Converse knows is left out after a change of the model, and reported", () => {
    const json = '{"citationsContent":{"content":[{"text":"So it says."}],"citations":[]}}';
    const written = write([say("assistant", "A", { type: "opaque" as const, json }, "B")]);
    expect(written.json).toEqual([
      '{"role":"assistant","content":[{"type":"text","text":"A"}',
      ',{"type":"text","text":"B"}',
    ]);
    expect(written.leftOut).toEqual(["a block of an unknown type: it belongs to another protocol"]);
  });

  test.each([
    ["of another provider", { type: "thinking", text: "hm" }],
    ["that was cut", { type: "thinking", text: "hm", signature: "" }],
    ["in another shape", opaque("thinking")],
  ] as const)("a thought without a signature, %s, is left out and reported", (_name, thought) => {
    const { json, leftOut } = write([say("assistant", thought, "B")]);
    expect(json).toEqual(['{"role":"assistant","content":[{"type":"text","text":"B"}']);
    expect(leftOut).toEqual(["a block of type thinking: it has no signature"]);
  });

  test("a tool id of another provider is changed alike in the use and in its result", () => {
    const { json, leftOut } = write([
      say("assistant", toolUse("functions.look:0", "{}")),
      say("tool", toolResult("functions.look:0", "one")),
    ]);
    expect(json).toEqual([
      '{"role":"assistant","content":[{"type":"tool_use","id":"functions_look_0_ec000204","name":"Read","input":{}}',
      ']},{"role":"user","content":[{"type":"tool_result","tool_use_id":"functions_look_0_ec000204","content":[{"type":"text","text":"one"}]}',
    ]);
    expect(leftOut).toEqual([]);
  });

  test("an input that was cut off is not sent, but its tool use is", () => {
    const { json, leftOut } = write([say("assistant", toolUse("t", '{"path":"/a'))]);
    expect(json).toEqual([
      '{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"Read","input":{}}',
    ]);
    expect(leftOut).toEqual(["the input of a tool_use: it is not a JSON object"]);
  });

  test("text that is no JSON never gets into a request", () => {
    const { json, leftOut } = write([
      say("user", { type: "opaque", json: '{"type":"x","cache_control' }, "Hi."),
      { role: "system", content: [], json: "{" },
    ]);
    expect(json).toEqual(['{"role":"user","content":[{"type":"text","text":"Hi."}']);
    expect(leftOut).toEqual([
      "a block of type opaque: it is not a JSON object",
      "a system message: it is not a JSON object",
    ]);
  });

  test("markers of an earlier request are taken out of the bytes, and stay in the message", () => {
    const message = decodeMessage(
      '{"role":"user","content":[{"type":"text","text":"Hi.","cache_control":{"type":"ephemeral"}}]}',
    );
    const before = JSON.stringify(message);
    expect(write([message]).json).toEqual([
      '{"role":"user","content":[{"type":"text","text":"Hi."}',
    ]);
    expect(JSON.stringify(message)).toBe(before);
  });
});

describe("half a character, which the provider refuses in any place", () => {
  const half = "cut \ud83d";

  test("is replaced in text, tool results and tool inputs, and that is reported", () => {
    const { json, leftOut } = write([
      say("user", half),
      say("assistant", toolUse("t", '{"\\uDC00":"\\\\ud800 \\ud83d\\ude00"}')),
      say("tool", toolResult("t", `${half}\udc00\udc00 ${half}`)),
    ]);
    expect(json).toEqual([
      '{"role":"user","content":[{"type":"text","text":"cut \uFFFD"}',
      ']},{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"Read","input":{"\uFFFD":"\\\\ud800 \\ud83d\\ude00"}}',
      ']},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"cut \u{1f400}\uFFFD cut \uFFFD"}]}',
    ]);
    expect(leftOut).toEqual([
      "half a character in a block of type text: the provider refuses it; U+FFFD is sent instead",
      "half a character in a block of type tool_use: the provider refuses it; U+FFFD is sent instead",
      "2 halves of characters in a block of type tool_result: the provider refuses it; U+FFFD is sent instead",
    ]);
  });

  test("is replaced in system text, tools and volatile text", () => {
    const named = { ...tool("Read"), description: half, inputSchemaJson: '{"title":"\\ud800"}' };
    const after = write([say("user", "Hi.")]).written;
    const kept = spelling.volatile(half, after, "kept");
    expect(spelling.tools([named])[0]?.json).toBe(
      '{"name":"Read","description":"cut \uFFFD","input_schema":{"title":"\uFFFD"}}',
    );
    expect(spelling.system([{ label: "a", tier: "T1", text: half }])[0]?.json).toBe(
      '{"type":"text","text":"cut \uFFFD"}',
    );
    expect(spelling.volatile(half, after, "text").blocks[0]?.json).toBe(
      ',{"type":"text","text":"cut \uFFFD"}',
    );
    expect(kept.blocks[0]?.json).toBe(
      ']},{"role":"system","content":[{"type":"text","text":"cut \uFFFD"}],"clear_at":"next_user_message"}',
    );
    expect(kept.leftOut).toEqual([
      {
        what: "half a character in a system message",
        reason: "the provider refuses it; U+FFFD is sent instead",
      },
    ]);
  });
});

describe("volatile text", () => {
  const afterUser = write([say("user", "Hi.")]).written;
  const afterAssistant = write([say("user", "Hi."), say("assistant", "Yes?")]).written;
  const cleared =
    '{"role":"system","content":[{"type":"text","text":"It is noon."}],"clear_at":"next_user_message"}';

  test("that is dropped stands at the end of the user's message", () => {
    const { blocks, message } = spelling.volatile("10:42", afterUser, "text");
    expect(blocks).toEqual([
      {
        json: ',{"type":"text","text":"10:42"}',
        markerFromEnd: 1,
        kind: "text",
        role: "user",
        endsMessage: true,
        content: [text("10:42")],
      },
    ]);
    expect(message).toBeUndefined();
  });

  test("opens a message where the user's is not open", () => {
    const spelled = spelling.volatile("10:42", afterAssistant, "text");
    expect(spelled.blocks.map(({ json }) => json)).toEqual([
      ']},{"role":"user","content":[{"type":"text","text":"10:42"}',
    ]);
  });

  test("that is kept is a system message the model sees for one turn", () => {
    const { blocks, written, message } = spelling.volatile("It is noon.", afterUser, "kept");
    expect(blocks).toEqual([
      {
        json: `]},${cleared}`,
        markerFromEnd: null,
        kind: "system message cleared at the next user message",
        role: "system",
        endsMessage: true,
        content: [text("It is noon.")],
        clearsAfterTurn: true,
      },
    ]);
    expect(written).toMatchObject({ openRole: null, lastRole: "system", blockCount: 2 });
    expect(written.betas).toEqual(["mid-conversation-system-clear-at-2026-08-21"]);
    expect(message).toEqual({ role: "system", content: [text("It is noon.")], json: cleared });
  });

  test.each(["It is noon.", '"quoted"\n', " ", "é 😀", "half \ud83d of a pair", "\\u0000\u0000"])(
    "that was kept is replayed with the same bytes: %j",
    (words) => {
      const { message, ...spelled } = spelling.volatile(words, afterUser, "kept");
      const stored = decodeMessage(message?.json ?? "");
      expect(stored).toEqual(message);
      expect(spelling.message(stored, afterUser)).toEqual(spelled);
    },
  );

  test("is kept in the user's message where the model takes no system messages", () => {
    const other = toSpelling(haiku);
    const { message, ...spelled } = other.volatile("It is noon.", afterUser, "kept");
    expect(spelled.blocks.map(({ json }) => json)).toEqual([
      ',{"type":"text","text":"It is noon."}',
    ]);
    expect(message).toEqual({ role: "user", content: [text("It is noon.")] });
    const replayed = other.message(say("user", "It is noon."), afterUser);
    expect(replayed).toEqual(spelled);
    expect(spelled.written.betas).toBeUndefined();
  });

  test.each(["kept", "text"] as const)("that is empty is left out and reported: %s", (how) => {
    const { blocks, leftOut } = spelling.volatile("", afterUser, how);
    expect(blocks).toEqual([]);
    expect(leftOut).toHaveLength(1);
  });
});

function opaque(type: string) {
  return { type: "opaque" as const, json: `{"type":"${type}","id":"x"}` };
}
