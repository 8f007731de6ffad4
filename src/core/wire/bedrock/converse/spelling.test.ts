import { describe, expect, test } from "vitest";
import type { Block } from "../../../message/message.ts";
import { assemblyOn } from "../../test-kit.ts";
import { bodyOn, encodeOn, haiku, planOf, say, type Encoding } from "../test-kit.ts";
import { bedrockConverse } from "./index.ts";

/** The blocks of the only message, and what was left out. */
function spelled(...blocks: readonly Block[]): { json: string; notes: readonly string[] } {
  const encoding: Encoding = { current: [say("user", ...blocks)] };
  const found = /"content":(\[[^]*\])\}\],"inferenceConfig"/.exec(
    bodyOn(bedrockConverse, encoding),
  );
  const { notes } = encodeOn(bedrockConverse, encoding);
  return { json: found?.[1] ?? "", notes: notes.map(({ detail }) => detail) };
}

const png = { kind: "base64", mediaType: "image/png", data: "iVBO" } as const;

describe("a block is written", () => {
  test.each<[string, Block, string]>([
    ["text", { type: "text", text: "Ü \u2028" }, '{"text":"Ü \u2028"}'],
    [
      "image",
      { type: "image", source: png },
      '{"image":{"format":"png","source":{"bytes":"iVBO"}}}',
    ],
    [
      "image in S3",
      { type: "image", source: { kind: "url", url: "s3://b/a.JPG" } },
      '{"image":{"format":"jpeg","source":{"s3Location":{"uri":"s3://b/a.JPG"}}}}',
    ],
    [
      "document, with a name that the provider takes",
      {
        type: "document",
        source: { kind: "base64", mediaType: "application/pdf", data: "JVBE" },
        title: "a/b_c.pdf",
      },
      '{"document":{"format":"pdf","name":"a b c pdf","source":{"bytes":"JVBE"}}}',
    ],
    [
      "document of text, named by its content",
      { type: "document", source: { kind: "text", mediaType: "text/plain", data: "Hi." } },
      '{"document":{"format":"txt","name":"document 9486b498","source":{"text":"Hi."}}}',
    ],
    [
      "thinking with its signature",
      { type: "thinking", text: "Hm.", signature: "c2ln" },
      '{"reasoningContent":{"reasoningText":{"text":"Hm.","signature":"c2ln"}}}',
    ],
    [
      "sealed thinking",
      { type: "redacted_thinking", data: "c2VhbA==" },
      '{"reasoningContent":{"redactedContent":"c2VhbA=="}}',
    ],
    [
      "tool result with its content",
      {
        type: "tool_result",
        toolUseId: "a:b",
        content: [
          { type: "text", text: "A." },
          { type: "image", source: png },
        ],
        isError: false,
      },
      '{"toolResult":{"toolUseId":"a_b_6783a31e","content":[{"text":"A."},{"image":{"format":"png","source":{"bytes":"iVBO"}}}]}}',
    ],
    [
      "a block that we do not know, to the byte",
      { type: "opaque", json: '{"citationsContent": {"content":[{"text":"A."}]}}' },
      '{"citationsContent": {"content":[{"text":"A."}]}}',
    ],
  ])("%s", (_name, block, expected) => {
    expect(spelled(block)).toEqual({ json: `[${expected}]`, notes: [] });
  });

  test.each<[string, Block, string]>([
    [
      "text without a word",
      { type: "text", text: " \n" },
      "a block of type text: the provider refuses text without a word",
    ],
    [
      "thinking without a signature",
      { type: "thinking", text: "Hm." },
      "a block of type thinking: it has no signature",
    ],
    [
      "a block of another protocol",
      { type: "opaque", json: '{"type":"server_tool_use"}' },
      "a block of type opaque: it belongs to another protocol",
    ],
    [
      "a block of another protocol with a text",
      {
        type: "opaque",
        json: '{"type":"unknown","text":"A.","cache_control":{"type":"ephemeral"}}',
      },
      "a block of type opaque: it belongs to another protocol",
    ],
    [
      "a file of another API",
      { type: "image", source: { kind: "file", fileId: "f" } },
      "a block of type image: the provider has no files of other APIs",
    ],
    [
      "an address that is not fetched",
      { type: "image", source: { kind: "url", url: "https://x/a.png" } },
      "a block of type image: the provider fetches nothing but objects of S3",
    ],
    [
      "an unknown format",
      { type: "image", source: { ...png, mediaType: "image/tiff" } },
      "a block of type image: no format of the provider is image/tiff",
    ],
  ])("or left out with a note: %s", (_name, block, note) => {
    expect(spelled({ type: "text", text: "A." }, block)).toEqual({
      json: '[{"text":"A."}]',
      notes: [note],
    });
  });

  test("with whole characters, and with an input that is an object", () => {
    const cut = spelled({ type: "text", text: "A\ud83d" });
    expect(cut.json).toBe('[{"text":"A\uFFFD"}]');
    expect(cut.notes[0]).toContain("half a character in a block of type text");
    const use = spelled({ type: "tool_use", id: "t", name: "Read", inputJson: '{"a":' });
    expect(use.json).toBe('[{"toolUse":{"toolUseId":"t","name":"Read","input":{}}}]');
    expect(use.notes).toEqual(["the input of a tool_use: it is not a JSON object"]);
  });
});

test("a tool without a description has none", () => {
  const tools = [{ name: "Go", description: " ", inputSchemaJson: "{}" }];
  expect(bodyOn(bedrockConverse, { tools })).toContain(
    '{"toolSpec":{"name":"Go","inputSchema":{"json":{}}}}',
  );
});

test("a summary of another API is text of the user", () => {
  const history = [say("assistant", { type: "compaction", content: "So far.", signature: "s" })];
  const request = encodeOn(bedrockConverse, { history });
  expect(bodyOn(bedrockConverse, { history })).toMatch(
    /^\{"messages":\[\{"role":"user","content":\[\{"text":"Summary of [^"]*\\n\\nSo far\."\},\{"text":"Hi\."\}\]\}\]/,
  );
  expect(request.notes.map(({ detail }) => detail)).toEqual([
    "the seal of a compaction: the provider takes summaries as text only",
  ]);
});

test("a system message among the messages is sent where the model takes it, and noted where it does not", () => {
  const history = [say("user", "A."), say("system", "B.")];
  expect(encodeOn(bedrockConverse, { history }).notes.map(({ detail }) => detail)).toEqual([
    "a system message: the model takes none among the messages",
  ]);
  const capabilities = { ...haiku.capabilities, midConversationSystem: true };
  expect(bodyOn(bedrockConverse, { history, model: { ...haiku, capabilities } })).toContain(
    '{"role":"user","content":[{"text":"A."}]},{"role":"system","content":[{"text":"B."}]},{"role":"user"',
  );
});

test("thinking never carries a cache point", () => {
  const history = [
    say("user", "A."),
    say("assistant", { type: "thinking", text: "Hm.", signature: "s" }, "B."),
  ];
  const { blocks } = assemblyOn({ protocol: bedrockConverse, model: haiku }, { history });
  const carriers = [0, 1, 2, 3].map((index) => blocks.at(index)?.mayCarryMarker);
  expect(carriers).toEqual([true, false, true, true]);
  expect(bodyOn(bedrockConverse, { history, plan: planOf({ 2: "5m" }) })).toContain(
    '{"text":"B."},{"cachePoint":{"type":"default"}}]}',
  );
});
