// Goal: how long and for whom prefixes are kept. Method: a manual clock.
import { describe, expect, test } from "vitest";
import {
  countInput,
  createKit,
  developer,
  marked,
  markedModel,
  minuteMs,
  openingTokens,
  sendChat,
  sendResponses,
  user,
  words,
} from "./test-kit.ts";

describe("from GPT-5.6 on, lifetimes and isolation", () => {
  const input = [user(words("a", 1500))];

  test("an entry lives thirty minutes from its last use", () => {
    const kit = createKit();
    const { written } = sendResponses(kit, input);
    kit.nowMs += 30 * minuteMs;
    expect(sendResponses(kit, input).read).toBe(written);
    kit.nowMs += 30 * minuteMs;
    expect(sendResponses(kit, input).read).toBe(written);
    kit.nowMs += 30 * minuteMs + 1;
    expect(sendResponses(kit, input)).toMatchObject({ read: 0, written });
  });

  test("an entry of twelve hours lives twelve hours and has no price", () => {
    const kit = createKit();
    const long = { prompt_cache_options: { ttl: "12h" } };
    const reply = kit.post("/v1/responses", { model: markedModel, input, ...long }).json;
    const { cache_write_tokens: written, cache_write_tokens_details: details } =
      reply.usage.input_tokens_details;
    expect(details).toEqual({ ttl_30m_tokens: 0, ttl_12h_tokens: written });
    expect(kit.records[0]?.costUsd).toBeNull();
    kit.nowMs += 12 * 60 * minuteMs;
    expect(sendResponses(kit, input).read).toBe(written);
    kit.nowMs += 12 * 60 * minuteMs + 1;
    expect(sendResponses(kit, input).read).toBe(0);
  });

  test("a breakpoint may ask for another lifetime than the request", () => {
    const kit = createKit();
    const rules = marked("developer", words("rules", 1500), "12h");
    const reply = kit.post("/v1/responses", { model: markedModel, input: [rules, user("one")] });
    const details = reply.json.usage.input_tokens_details.cache_write_tokens_details;
    expect(details.ttl_12h_tokens).toBe(
      countInput(kit, [developer(words("rules", 1500))]) - openingTokens,
    );
    expect(details.ttl_30m_tokens).toBeGreaterThan(0);
    kit.nowMs += 60 * minuteMs;
    expect(sendResponses(kit, [rules, user("one")]).read).toBe(details.ttl_12h_tokens);
  });

  test("twelve hours are for Responses only", () => {
    const kit = createKit();
    const long = { prompt_cache_options: { ttl: "12h" } };
    const body = { model: markedModel, messages: input, ...long };
    expect(kit.post("/v1/chat/completions", body).json.error.message).toBe(
      "Invalid value: '12h'. Supported values are: '30m'.",
    );
    const compact = kit.post("/v1/responses/compact", { model: markedModel, input, ...long });
    expect(compact.json.error.param).toBe("prompt_cache_options.ttl");
  });

  test("another cache key and another workspace share nothing", () => {
    const kit = createKit();
    const { written } = sendResponses(kit, input, { prompt_cache_key: "one" });
    expect(sendResponses(kit, input, { prompt_cache_key: "two" }).read).toBe(0);
    expect(sendResponses(kit, input).read).toBe(0);
    expect(sendResponses(kit, input, { prompt_cache_key: "one" }).read).toBe(written);
    kit.workspace = "other";
    expect(sendResponses(kit, input, { prompt_cache_key: "one" }).read).toBe(0);
  });
});

test.each(["gpt-5.5", "gpt-5.4"])(
  "%s asked to keep prefixes for 24h keeps them so long",
  (model) => {
    const kit = createKit();
    const messages = [user(words("a", 5000))];
    const day = { model, prompt_cache_retention: "24h" };
    sendChat(kit, messages, day);
    kit.nowMs += 24 * 60 * minuteMs;
    expect(sendChat(kit, messages, day).read).toBeGreaterThanOrEqual(4096);
    kit.nowMs += 24 * 60 * minuteMs + 1;
    expect(sendChat(kit, messages, day).read).toBe(0);
  },
);
