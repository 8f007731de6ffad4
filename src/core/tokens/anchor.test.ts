import { expect, test } from "vitest";
import type { Usage } from "../message/usage.ts";
import { type Anchor, anchorAt, countHistory, type History, observe } from "./anchor.ts";
import { uncalibrated } from "./calibration.ts";
import { noRawCount } from "./raw-count.ts";

const usage: Usage = {
  uncachedTokens: 100,
  cacheReadTokens: 9000,
  cacheWriteTokens: { "5m": 900 },
  outputTokens: 150,
  reasoningTokens: 50,
};
const question = message("user", "q", { textTokens: 40 });
const reply = message("assistant", "qr", { textTokens: 195, replies: 1 });
const result = message("user", "qrt", { textTokens: 300, toolResults: 1 });
const asked = historyOf(question);
const continued = historyOf(question, reply, result);
const openai = { generation: "o200k", calibration: uncalibrated } as const;

test("without a reply everything is estimated", () => {
  expect(countHistory(asked, undefined, openai)).toEqual({
    tokens: 1040,
    estimatedTokens: 1040,
    precision: "approximate",
    basis: "no-anchor",
  });
});

test("the history a reply was billed for is known exactly", () => {
  expect(countHistory(asked, anchorAt(asked, usage), openai)).toEqual({
    tokens: 10_000,
    estimatedTokens: 0,
    precision: "exact",
    basis: "anchor",
  });
});

test("after a reply only what came after it is estimated", () => {
  // 10,000 billed, 200 generated, 300 plus an envelope of 11 estimated.
  expect(countHistory(continued, anchorAt(asked, usage), openai)).toEqual({
    tokens: 10_511,
    estimatedTokens: 311,
    precision: "approximate",
    basis: "anchor",
  });
});

test("a placeholder in a streamed reply's usage is not believed", () => {
  const anchor: Anchor = { ...anchorAt(asked, usage), replyTokens: 2 };
  expect(countHistory(continued, anchor, openai)).toMatchObject({
    tokens: 10_511,
    estimatedTokens: 511,
  });
});

test("a calibration multiplies the estimated part alone", () => {
  const calibration = { factor: 1.5, learned: 9, ignored: 0 };
  const total = countHistory(continued, anchorAt(asked, usage), {
    generation: "o200k",
    calibration,
  });
  expect(total).toMatchObject({ tokens: 10_667, estimatedTokens: 467 });
});

test("a rewritten history is estimated anew", () => {
  const compacted = historyOf(message("user", "summary", { textTokens: 70 }), reply);
  expect(countHistory(compacted, anchorAt(asked, usage), openai)).toEqual({
    tokens: 1270,
    estimatedTokens: 1270,
    precision: "approximate",
    basis: "history-rewritten",
  });
  expect(countHistory(historyOf(), anchorAt(asked, usage), openai).basis).toBe("history-rewritten");
});

test("other tools or another system prompt make the anchor invalid", () => {
  const changed = { ...continued, overheadKey: "other tools" };
  expect(countHistory(changed, anchorAt(asked, usage), openai).basis).toBe("overhead-changed");
});

test("the next bill says how good the estimate was, without what was known", () => {
  const anchor = anchorAt(asked, usage);
  expect(observe(continued, anchor, 10_530, "o200k")).toEqual({
    estimatedTokens: 311,
    billedTokens: 330,
  });
  expect(observe(continued, anchor, 10_100, "o200k")).toBeUndefined();
  expect(observe(continued, undefined, 10_530, "o200k")).toBeUndefined();
  expect(observe(historyOf(reply), anchor, 10_530, "o200k")).toBeUndefined();
});

function historyOf(...messages: History["messages"]): History {
  return { overhead: { ...noRawCount, textTokens: 1000 }, overheadKey: "tools", messages };
}

function message(
  role: "user" | "assistant",
  prefixKey: string,
  features: Partial<typeof noRawCount>,
): History["messages"][number] {
  return { role, prefixKey, count: { ...noRawCount, ...features } };
}
