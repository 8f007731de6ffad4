import { expect, test } from "vitest";
import type { Block, Message } from "../message/message.ts";
import { loadO200k } from "./o200k/counter.ts";
import { addRawCounts, countMessage, countText, noRawCount } from "./raw-count.ts";

const counter = await loadO200k();

test("text counts its tokens and what it is made of", () => {
  expect(countText("Hello, World!\n\nIDs 12 and 345.", counter)).toEqual({
    ...noRawCount,
    textTokens: 11,
    smallLetters: 12,
    capitalRuns: 3,
    digits: 5,
    digitRuns: 2,
    markRuns: 3,
    lineBreakRuns: 1,
  });
});

test("other scripts, symbols and emoji are counted apart", () => {
  expect(countText("配置 é ✓ 😀", counter)).toEqual({
    ...noRawCount,
    textTokens: 4,
    ideographs: 2,
    otherLetters: 1,
    symbols: 1,
    surrogates: 2,
  });
});

test("the arrows of a file viewer are no symbols", () => {
  expect(countText("     1→a\n     2→b\n →c", counter)).toMatchObject({ symbols: 1, digits: 2 });
});

test("a tool use counts its input both as JSON and as the model reads it", () => {
  const use: Block = {
    type: "tool_use",
    id: "t1",
    name: "edit",
    inputJson: '{"path":"a.ts","text":"\\tif (x) {\\n\\t\\treturn;\\n\\t}"}',
  };
  expect(countMessage(say("assistant", use), counter)).toEqual({
    ...noRawCount,
    inputTokens: 17,
    inputJsonTokens: 24,
    toolArguments: 2,
    toolUses: 1,
    smallLetters: 20,
    markRuns: 6,
    lineBreakRuns: 5,
    replies: 1,
  });
});

test("a tool result counts what is inside it", () => {
  const result: Block = {
    type: "tool_result",
    toolUseId: "t1",
    isError: false,
    content: [
      { type: "text", text: "Hello, world!" },
      { type: "image", source: { kind: "url", url: "https://example.org/a.png" } },
    ],
  };
  expect(countMessage(say("user", result), counter)).toEqual({
    ...noRawCount,
    textTokens: 4,
    smallLetters: 9,
    capitalRuns: 1,
    markRuns: 2,
    toolResults: 1,
    imagesOfUnknownSize: 1,
  });
});

test("thinking counts by its signature, not by its text", () => {
  const count = countMessage(
    say(
      "assistant",
      { type: "thinking", text: "A long thought", signature: "abcd" },
      { type: "redacted_thinking", data: "abcdef" },
    ),
    counter,
  );
  expect(count).toEqual({
    ...noRawCount,
    thinkingBlocks: 2,
    signatureCharacters: 10,
    replies: 1,
  });
});

test("documents, compactions and unknown blocks are counted too", () => {
  const count = countMessage(
    say(
      "user",
      { type: "document", source: { kind: "file", fileId: "f" }, title: "hello" },
      { type: "document", source: { kind: "text", mediaType: "text/plain", data: "hello" } },
      { type: "compaction", content: "hello" },
      { type: "compaction", content: null },
      { type: "opaque", json: "hello" },
    ),
    counter,
  );
  expect(count).toEqual({ ...noRawCount, textTokens: 4, smallLetters: 20, documents: 1 });
});

test("an image whose bytes we have counts its pixels", () => {
  const png = Buffer.alloc(24);
  png.writeUInt32BE(0x89504e47, 0);
  png.writeUInt32BE(100, 16);
  png.writeUInt32BE(50, 20);
  const source = { kind: "base64", mediaType: "image/png", data: png.toString("base64") } as const;
  expect(countMessage(say("user", { type: "image", source }), counter)).toEqual({
    ...noRawCount,
    imagePixels: 5000,
  });
});

test("counts add up", () => {
  const hello = countText("hello", counter);
  expect(addRawCounts(hello, hello).textTokens).toBe(2);
  expect(addRawCounts(hello, noRawCount)).toEqual(hello);
});

function say(role: Message["role"], ...content: Block[]): Message {
  return { role, content };
}
