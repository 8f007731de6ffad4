import { expect, test } from "vitest";
import { noUsage, type Usage } from "../../core/message/usage.ts";
import type { RecordedBlock } from "../recording.ts";
import { findUnseenChange, type UnseenQuestion } from "./unseen-change.ts";

test("a user turn that read nothing means that the foundation changed", () => {
  expect(findUnseenChange(question({ now: usageOf(0, 10_100) }))).toEqual({
    cause: "system changed",
    detail: "not even tools and system were read, which the recording does not hold",
  });
});

test("a recorded foundation counts as unchanged", () => {
  const tools: RecordedBlock = { ...blockOf("user", "text"), tier: "T0" };
  expect(findUnseenChange(question({ now: usageOf(0, 10_100), blocks: [tools] }))).toBeNull();
});

test("a prompt that grew less than what was appended left something out", () => {
  expect(findUnseenChange(question({ now: usageOf(2000, 7400) }))).toEqual({
    cause: "history rewritten",
    detail:
      "700 tokens of the history were not sent again, such as earlier thinking or cleared results",
  });
});

test("requests recorded whole hide nothing, whatever the bill says", () => {
  for (const now of [usageOf(0, 10_100), usageOf(2000, 7400)]) {
    expect(findUnseenChange(question({ now, isWhole: true }))).toBeNull();
  }
});

test("a difference within the error of counting is no evidence", () => {
  expect(findUnseenChange(question({ now: usageOf(2000, 8050) }))).toBeNull();
});

test("between tool calls only a shorter prompt is evidence", () => {
  const appended = [blockOf("user", "tool_result")];
  expect(findUnseenChange(question({ appended, now: usageOf(2000, 8001) }))).toBeNull();
  expect(findUnseenChange(question({ appended, now: usageOf(2000, 7000) }))).toMatchObject({
    cause: "history rewritten",
  });
});

test("a setting that changed at this call is named, whatever the rules say about it", () => {
  const settings = { "images appear or vanish": "images" };
  const { now } = question({ now: usageOf(2000, 8100) });
  expect(findUnseenChange({ ...question({}), now: { ...now, settings } })).toEqual({
    cause: "parameter changed",
    detail: "images appear or vanish: none → images",
  });
});

/** A call of 10,000 tokens, and a user turn of 100 more; every test changes one thing. */
function question(
  change: Partial<Pick<UnseenQuestion, "blocks" | "appended" | "isWhole">> & {
    readonly now?: Usage;
  },
): UnseenQuestion {
  const turn = blockOf("user", "text");
  return {
    before: { usage: usageOf(9000, 1000), settings: {} },
    now: { usage: change.now ?? usageOf(2000, 8100), settings: {} },
    blocks: change.blocks ?? [turn],
    appended: change.appended ?? [turn],
    tokenizer: "o200k",
    isWhole: change.isWhole ?? false,
  };
}

function blockOf(role: "user", kind: "text" | "tool_result"): RecordedBlock {
  return {
    hash: kind,
    tokens: 100,
    tier: "T3",
    kind,
    role,
    endsMessage: true,
    mayCarryMarker: true,
  };
}

function usageOf(cacheReadTokens: number, written: number): Usage {
  return { ...noUsage, cacheReadTokens, cacheWriteTokens: { "5m": written } };
}
