// Goal: caching before breakpoints, in steps. Method: requests through the surface, usage in replies.
import { describe, expect, test } from "vitest";
import {
  assistant,
  createKit,
  minuteMs,
  sendChat,
  sendResponses,
  user,
  words,
} from "./test-kit.ts";

describe("before breakpoints", () => {
  test("GPT-5.5 keeps steps of 2,048 tokens, writes for free and lasts half an hour", () => {
    const kit = createKit();
    const messages = [{ role: "system", content: words("rules", 5000) }, user("one")];
    const model = { model: "gpt-5.5" };
    expect(sendChat(kit, messages, model)).toMatchObject({ read: 0, written: undefined });
    expect(sendChat(kit, messages, model).read).toBe(4096);
    kit.nowMs += 30 * minuteMs;
    expect(sendChat(kit, messages, model).read).toBe(4096);
    kit.nowMs += 30 * minuteMs + 1;
    expect(sendChat(kit, messages, model).read).toBe(0);
  });

  test("GPT-4o keeps steps of 128 tokens for five minutes, also inside a message", () => {
    const kit = createKit();
    const model = { model: "gpt-4o" };
    const text = words("shared", 2000);
    expect(sendChat(kit, [user(`${text} first`)], model).read).toBe(0);
    const second = sendChat(kit, [user(`${text} second`)], model);
    expect(second.read % 128).toBe(0);
    expect(second.read).toBeGreaterThanOrEqual(1920 - 128);
    expect(second.read).toBeLessThan(second.total);
    kit.nowMs += 5 * minuteMs + 1;
    expect(sendChat(kit, [user(`${text} second`)], model).read).toBe(0);
  });

  test.each([
    ["Chinese", "人工智能正在改变工作方式许多公司开始使用语言模型".repeat(150).slice(0, 3450)],
    [
      "Chinese with signs",
      "人工智能正在改变工作，许多公司开始使用模型。".repeat(160).slice(0, 3450),
    ],
    ["lines of code", Array.from({ length: 600 }, (_, line) => `x${line}=f(${line})`).join("\n")],
    [
      "tab-separated lines",
      Array.from({ length: 600 }, (_, row) => `${row}\t${row * 7}`).join("\n"),
    ],
    ["one unbroken run", "0123456789abcdef".repeat(300)],
  ])("two messages that begin with the same %s and end differently share it", (_, text) => {
    const kit = createKit();
    const model = { model: "gpt-4o" };
    const shared = sendChat(kit, [user(text)], model).total;
    const other = createKit();
    expect(sendChat(other, [user(`${text}1st`)], model).read).toBe(0);
    const { read } = sendChat(other, [user(`${text}2nd`)], model);
    expect(read % 128).toBe(0);
    expect(read).toBeLessThanOrEqual(shared);
    expect(read).toBeGreaterThan(shared - 2 * 128);
  });

  test("below 1,024 shared tokens nothing is read", () => {
    const kit = createKit();
    const model = { model: "gpt-4o" };
    sendChat(kit, [user(words("a", 1000))], model);
    expect(sendChat(kit, [user(words("a", 1000))], model).read).toBe(0);
    sendChat(kit, [user(words("b", 1100))], model);
    expect(sendChat(kit, [user(words("b", 1100))], model).read).toBe(1024);
  });

  test("the cache key is a routing hint and separates nothing", () => {
    const kit = createKit();
    const messages = [user(words("a", 2000))];
    sendChat(kit, messages, { model: "gpt-4o", prompt_cache_key: "one" });
    expect(sendChat(kit, messages, { model: "gpt-4o", prompt_cache_key: "two" }).read).toBe(1920);
  });

  test("a model without a cache price caches nothing", () => {
    const kit = createKit();
    const messages = [user(words("a", 3000))];
    sendChat(kit, messages, { model: "gpt-5.5-pro" });
    expect(sendChat(kit, messages, { model: "gpt-5.5-pro" }).read).toBe(0);
  });

  test("reasoning of earlier turns is dropped, so what follows it is read no more", () => {
    const kit = createKit();
    const reasoning = {
      type: "reasoning",
      id: "rs_1",
      summary: [],
      encrypted_content: "x".repeat(4000),
    };
    const history = [user(words("a", 2000)), reasoning, assistant(words("b", 2000))];
    const model = { model: "gpt-5.4" };
    const one = sendResponses(kit, [...history], model);
    const two = sendResponses(kit, [...history, user("next")], model);
    expect(two.total).toBeLessThan(one.total);
    expect(two.read).toBe(1920);
    const all = { ...model, reasoning: { context: "all_turns" } };
    expect(sendResponses(kit, [...history, user("next")], all).read).toBeGreaterThan(4000);
  });
});
