import { expect, test } from "vitest";
import { buckets, createKit, point, point1h, said, tool, words } from "./test-kit.ts";

const system = [{ text: words(800, "rule") }];

test("a cache point keeps everything before it, and the next call reads it", () => {
  const kit = createKit();
  const marked = [...system, point];
  const first = buckets(kit.converse({ system: marked, messages: [said("one")] }));
  const second = buckets(kit.converse({ system: marked, messages: [said("two")] }));
  expect(first.write5m).toBeGreaterThan(800);
  expect([first.read, first.write1h]).toEqual([0, 0]);
  expect(second).toEqual({ read: first.write5m, write5m: 0, write1h: 0, input: first.input });
});

test("writes are shown per lifetime, the longest first", () => {
  const kit = createKit();
  const { body } = kit.converse({
    toolConfig: { tools: [tool("read"), point1h] },
    system: [...system, point1h],
    messages: [said(words(600, "more"), point)],
  });
  expect(body.usage.cacheDetails).toEqual([
    { ttl: "1h", inputTokens: expect.any(Number) },
    { ttl: "5m", inputTokens: expect.any(Number) },
  ]);
  const [hour, minutes] = body.usage.cacheDetails;
  expect(body.usage.cacheWriteInputTokens).toBe(hour.inputTokens + minutes.inputTokens);
});

test("a prefix ends with its lifetime, which a read restarts", () => {
  const kit = createKit();
  const read = (): number =>
    buckets(kit.converse({ system: [...system, point], messages: [said("hello")] })).read;
  const minutes = 60_000;
  expect(read()).toBe(0);
  kit.nowMs += 4 * minutes;
  expect(read()).toBeGreaterThan(800);
  kit.nowMs += 4 * minutes;
  expect(read()).toBeGreaterThan(800);
  kit.nowMs += 6 * minutes;
  expect(read()).toBe(0);
});

test("nothing is cached without a cache point: what Bedrock keeps by itself is a best effort", () => {
  const kit = createKit();
  const body = { system, messages: [said("hello")] };
  kit.converse(body);
  expect(buckets(kit.converse(body)).read).toBe(0);
});

test("a prefix below the minimum is not kept: 512 tokens of Sonnet 5.5, 4,096 of Opus 4.7 here", () => {
  const kit = createKit();
  const written = (model: string, count: number): number => {
    kit.model = model;
    const body = { system: [{ text: words(count, "w") }, point], messages: [said("hello")] };
    return buckets(kit.converse(body)).write5m;
  };
  expect(written("anthropic.claude-sonnet-5-5", 100)).toBe(0);
  expect(written("anthropic.claude-sonnet-5-5", 400)).toBeGreaterThan(512);
  expect(written("anthropic.claude-opus-4-7", 800)).toBe(0);
  expect(written("anthropic.claude-opus-4-7", 3000)).toBeGreaterThan(4096);
});

test("a cache point looks back 20 blocks, and every block counts", () => {
  expect(readAcross(19)).toBeGreaterThan(800);
  expect(readAcross(20)).toBe(0);
});

/** What a second call reads of the first, whose cache point is so many blocks back. */
function readAcross(blocks: number): number {
  const kit = createKit();
  const start = { text: words(800, "start") };
  const more = Array.from({ length: blocks }, (_, index) => ({ text: `part ${index}` }));
  kit.converse({ messages: [{ role: "user", content: [start, point] }] });
  const content = [start, ...more, point];
  return buckets(kit.converse({ messages: [{ role: "user", content }] })).read;
}

test("a cache point that is moved or left out changes nothing of the prefix", () => {
  const kit = createKit();
  const long = words(800, "long");
  kit.converse({ messages: [said(long, point, { text: "and" })] });
  const { read } = buckets(kit.converse({ messages: [said(long, { text: "and" }, point)] }));
  expect(read).toBeGreaterThan(800);
});

test("a profile of a region and the model behind it share what they keep", () => {
  const kit = createKit();
  const body = { system: [...system, point], messages: [said("hello")] };
  kit.converse(body);
  kit.model = "anthropic.claude-sonnet-5-5";
  expect(buckets(kit.converse(body)).read).toBeGreaterThan(800);
});

test("Converse and InvokeModel of the same prompt share what they keep", () => {
  const kit = createKit();
  const text = words(800, "shared");
  kit.converse({ system: [{ text }, point], messages: [said("hello")] });
  const { body } = kit.post("invoke", {
    anthropic_version: "bedrock-2023-05-31",
    max_tokens: 10,
    system: [{ type: "text", text, cache_control: { type: "ephemeral" } }],
    messages: [{ role: "user", content: "hello" }],
  });
  expect(body.usage.cache_read_input_tokens).toBeGreaterThan(800);
});

test("other accounts and the model's own API share nothing", () => {
  const kit = createKit();
  const body = { system: [...system, point], messages: [said("hello")] };
  kit.converse(body);
  kit.workspace = "another";
  expect(buckets(kit.converse(body)).read).toBe(0);
});
