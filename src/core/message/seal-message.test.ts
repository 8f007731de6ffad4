import { expect, test } from "vitest";
import { hashContent } from "../hash.ts";
import type { Message } from "./message.ts";
import { appendSealed, emptyPrefix, sealedMessages, sealMessage } from "./seal-message.ts";

const say = (text: string): Message => ({ role: "user", content: [{ type: "text", text }] });
const sealing = { count: () => 7 };

test("a sealed message carries its bytes, their hash and its tokens", () => {
  const sealed = sealMessage(say("é"), sealing);
  expect(new TextDecoder().decode(sealed.wire)).toBe(
    '{"role":"user","content":[{"type":"text","text":"é"}]}',
  );
  expect(sealed.key).toBe(hashContent(sealed.wire));
  expect(sealed.tokens).toBe(7);
});

test("a provider's own spelling is what gets hashed and sent", () => {
  const sealed = sealMessage(say("x"), { ...sealing, encode: () => "{}" });
  expect(sealed.key).toBe(hashContent("{}"));
  expect(sealed.wire).toEqual(new TextEncoder().encode("{}"));
});

test("a prefix key depends on every message and on their order, and on nothing else", () => {
  const [a, b] = [sealMessage(say("a"), sealing), sealMessage(say("b"), sealing)];
  const prefix = (...messages: (typeof a)[]) => messages.reduce(appendSealed, emptyPrefix);
  expect(prefix(a, b).key).toBe(prefix(a, b).key);
  expect(prefix(b, a).key).not.toBe(prefix(a, b).key);
  expect(prefix(a).key).not.toBe(prefix(a, b).key);
});

test("appending shares what came before and adds up", () => {
  const [a, b] = [sealMessage(say("a"), sealing), sealMessage(say("bb"), sealing)];
  const first = appendSealed(emptyPrefix, a);
  const second = appendSealed(first, b);
  expect(second).toMatchObject({ length: 2, tokens: 14, bytes: a.wire.length + b.wire.length });
  expect(second.before).toBe(first);
  expect(sealedMessages(second)).toEqual([a, b]);
});

const useOf = (half: string): Message => ({
  role: "assistant",
  content: [{ type: "tool_use", id: "a", name: "b", inputJson: `{"x":"${half}"}` }],
});

test("texts that differ only in a bare half of a character have different keys", () => {
  const [first, second] = ["\ud800", "\ud801"].map((half) => sealMessage(useOf(half), sealing));
  expect(first?.key).not.toBe(second?.key);
  expect(new TextDecoder().decode(first?.wire)).toContain('{"x":"\\ud800"}');
});
