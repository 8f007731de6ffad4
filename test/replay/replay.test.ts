// Goal: a recording is priced as its requests would have been billed. Method: a small recording of our own, with
// every figure of the report worked out by hand.
import { describe, expect, test } from "vitest";
import { findPolicy } from "../../src/core/cache/policies.ts";
import { noUsage, type Usage } from "../../src/core/message/usage.ts";
import type { Recorded, RecordedBlock, RecordedRequest } from "../../src/replay/recording.ts";
import { replay } from "../../src/replay/replay.ts";
import type { ReplayReport } from "../../src/replay/report.ts";
import { createWriteWatch } from "../../src/replay/write-waste.ts";

const noon = Date.parse("2026-11-15T12:00:00Z");

function block(hash: string, tokens: number, more: Partial<RecordedBlock> = {}): RecordedBlock {
  return {
    hash,
    tokens,
    tier: "T3",
    kind: "text",
    role: "user",
    endsMessage: true,
    mayCarryMarker: true,
    ...more,
  };
}

const system = block("system", 10_000, { tier: "T1", kind: "system text", role: "system" });

function request(
  minutes: number | null,
  keep: number,
  append: readonly RecordedBlock[],
  more: Partial<RecordedRequest> = {},
): RecordedRequest {
  return {
    thread: "",
    startMs: minutes === null ? null : noon + minutes * 60_000,
    endMs: null,
    model: "claude-sonnet-4-6",
    keep,
    append,
    remainderTokens: 0,
    usage: null,
    markers: null,
    settings: {},
    ...more,
  };
}

async function* recording(...requests: readonly RecordedRequest[]): AsyncGenerator<Recorded> {
  yield {
    type: "session",
    session: {
      id: "s1",
      file: "a.jsonl",
      format: "ctx-trace/1",
      agent: "tester",
      wire: "anthropic-messages",
      blocks: "as sent",
      isWhole: false,
      workspace: "a.jsonl",
    },
  };
  yield* requests.map((each): Recorded => ({ type: "request", sessionId: "s1", request: each }));
  yield { type: "skipped", file: "a.jsonl", line: 9, reason: "not JSON" };
}

function run(
  requests: readonly RecordedRequest[],
  names: readonly string[],
  groupBy: "none" | "day" = "none",
): Promise<ReplayReport> {
  return replay(recording(...requests), { policies: names.map(findPolicy), model: null, groupBy });
}

const three = [
  request(0, 0, [system, block("a", 1000)]),
  request(1, 2, [block("b", 1000)]),
  // Ten minutes later only a lifetime of an hour is left.
  request(11, 3, [block("c", 1000)]),
];

describe("a session of three calls with a pause before the last", () => {
  test("costs what the provider would have billed, and is compared with the limit", async () => {
    const report = await run(three, ["tail-5m", "tail-1h", "none"]);
    const [short, long, none] = report.policies;
    // $3 a million tokens; 11,000 written, 11,000 read + 1,000 written, 13,000 written.
    expect(short).toMatchObject({
      policy: "tail-5m",
      inputTokens: 36_000,
      readTokens: 11_000,
      writeTokens: { "5m": 25_000, "30m": 0, "1h": 0 },
      uncachedTokens: 0,
      costPicoUsd: String((11_000 * 0.1 + 25_000 * 1.25) * 3_000_000),
      missesByCause: { "lifetime expired": { count: 1, tokens: 12_000 } },
    });
    expect(long).toMatchObject({
      readTokens: 23_000,
      writeTokens: { "5m": 0, "30m": 0, "1h": 13_000 },
      costPicoUsd: String((23_000 * 0.1 + 13_000 * 2) * 3_000_000),
      missesByCause: {},
    });
    expect(none).toMatchObject({ costUsd: 0.108, relativeCost: 1, hitRate: 0, coverage: 0 });
    // 12,000 written once at 1.25, the last 1,000 plain, 23,000 read.
    expect(report.limit.costPicoUsd).toBe(
      String((12_000 * 1.25 + 1000 + 23_000 * 0.1) * 3_000_000),
    );
    expect(short?.ratioToLimit).toBeCloseTo(32_350 / 18_300, 10);
    expect(report.skipped).toEqual([{ reason: "not JSON", count: 1 }]);
    expect(report.skippedWhere).toEqual([{ file: "a.jsonl", line: 9, reason: "not JSON" }]);
  });

  test("reports what was written and never read, and what was written again", async () => {
    const { policies } = await run(three, ["tail-5m", "tail-1h"]);
    // The second call's thousand and the third's whole prompt were never read.
    expect(policies[0]).toMatchObject({ wastedWriteTokens: 14_000 });
    expect(policies[0]?.rewriteFactor).toBeCloseTo(25_000 / 13_000, 10);
    expect(policies[1]).toMatchObject({ wastedWriteTokens: 1000, rewriteFactor: 1 });
  });
});

test("prompts below the provider's minimum are named so under every policy", async () => {
  const small = block("small", 600, { tier: "T1", kind: "system text", role: "system" });
  const short = [request(0, 0, [small, block("a", 100)]), request(1, 2, [block("b", 100)])];
  const { policies } = await run(short, ["adaptive", "tail-5m", "none"]);
  const expected = { "below the minimum": { count: 1, tokens: 700, costUsd: 0.00189 } };
  expect(policies.map(({ missesByCause }) => missesByCause)).toEqual([
    expected,
    expected,
    expected,
  ]);
});

test("the billing may take another reading of what providers leave open", async () => {
  // An agent whose calls come in threes, with ten minutes between the threes.
  const minutes = Array.from({ length: 24 }, (_, call) => Math.floor(call / 3) * 12 + (call % 3));
  const requests = minutes.map((minute, call) =>
    request(minute, call === 0 ? 0 : call + 1, [
      ...(call === 0 ? [system] : []),
      block(`${call}`, 2000),
    ]),
  );
  const costs: Record<string, number> = {};
  for (const entryLives of ["as its marker says", "as its shortest part"] as const) {
    const report = await replay(recording(...requests), {
      policies: [findPolicy("adaptive"), findPolicy("tail-1h")],
      model: null,
      groupBy: "none",
      billing: { entryLives },
    });
    for (const { policy, costUsd } of report.policies) costs[`${policy} ${entryLives}`] = costUsd;
  }
  // The step of adaptive is a long part after a short one; a tail for an hour has only long parts.
  expect(costs["tail-1h as its shortest part"]).toBe(costs["tail-1h as its marker says"]);
  expect(costs["adaptive as its shortest part"]).toBeGreaterThan(
    costs["adaptive as its marker says"] ?? 0,
  );
});

function bill(readTokens: number, written: number): { readonly usage: Usage } {
  const cacheWriteTokens = { "5m": written };
  return { usage: { ...noUsage, cacheReadTokens: readTokens, cacheWriteTokens } };
}

describe("a recording with bills", () => {
  const first = request(0, 0, [system, block("a", 1000)], bill(0, 11_550));

  test("has blocks of the billed sizes, and the simulator reads what was recorded", async () => {
    // We count 1,000 tokens for each message; the bills say 1,100 and 900.
    const second = request(1, 2, [block("b", 1000)], bill(11_550, 1100));
    const third = request(2, 3, [block("c", 1000)], bill(12_650, 900));
    const report = await run([first, second, third], ["tail-5m"]);
    expect(report.policies[0]).toMatchObject({
      inputTokens: 11_550 + 12_650 + 13_550,
      readTokens: 11_550 + 12_650,
      costPicoUsd: report.recorded?.costPicoUsd,
    });
    expect(report.recordedReads).toEqual([
      {
        session: "s1",
        file: "a.jsonl",
        agent: "tester",
        caching: "markers",
        requests: 2,
        recordedReadTokens: 24_200,
        simulatedReadTokens: 24_200,
        error: 0,
        billedPromptTokens: 37_750,
        promptErrorTokens: 0,
        hidden: [],
      },
    ]);
  });

  test("names growth that the recording does not show, and later requests keep it", async () => {
    const second = request(1, 2, [block("b", 1000)], bill(11_550, 6200));
    const third = request(2, 3, [block("c", 1000)], bill(17_750, 1000));
    const report = await run([first, second, third], ["none"]);
    expect(report.policies[0]?.inputTokens).toBe(11_550 + 17_750 + 18_750);
    expect(report.recordedReads[0]).toMatchObject({
      error: 0,
      hidden: [{ request: 2, thread: "", tokens: 5200 }],
    });
  });

  test("names what was left out, and counts the rest as rewritten after the part that was read", async () => {
    const second = request(1, 2, [block("b", 6000)], bill(11_550, 6000));
    // 5,000 tokens fewer than before, although 1,000 were added: the second message was cleared.
    const third = request(2, 3, [block("c", 1000)], bill(11_550, 1000));
    const report = await run([first, second, third], ["tail-5m"]);
    expect(report.policies[0]).toMatchObject({ inputTokens: 11_550 + 17_550 + 12_550 });
    expect(report.recordedReads[0]).toMatchObject({
      recordedReadTokens: 23_100,
      simulatedReadTokens: 23_100,
      hidden: [{ request: 3, thread: "", tokens: -6000 }],
    });
  });

  test("is compared under its own markers where it has them", async () => {
    const atSystem = [{ block: 0, lifetime: "5m" }] as const;
    const marked = { ...first, markers: atSystem };
    const second = request(1, 2, [block("b", 1000)], { ...bill(10_500, 0), markers: atSystem });
    const report = await run([marked, second], ["none"]);
    expect(report.recordedReads[0]).toMatchObject({ simulatedReadTokens: 10_500, error: 0 });
  });

  test("compares nothing under another model's rules", async () => {
    const second = request(1, 2, [block("b", 1000)], bill(11_550, 1100));
    const report = await replay(recording(first, second), {
      policies: [findPolicy("none")],
      model: "claude-opus-4-6",
      groupBy: "none",
    });
    expect(report.recordedReads).toMatchObject([
      { requests: 0, recordedReadTokens: 0, error: null },
    ]);
  });

  test("a change of the tokenizer is no hidden growth", async () => {
    const other = { model: "claude-opus-4-8" };
    const second = request(1, 2, [block("b", 1000)], { ...bill(0, 16_000), ...other });
    const third = request(2, 3, [block("c", 1000)], { ...bill(16_000, 1280), ...other });
    const { recordedReads } = await run([first, second, third], ["none"]);
    expect(recordedReads[0]?.hidden).toEqual([]);
  });
});

test("what the provider reported is priced beside it, and a warm start is reported", async () => {
  const usage: Usage = {
    uncachedTokens: 1000,
    cacheReadTokens: 10_000,
    cacheWriteTokens: {},
    outputTokens: 99,
    reasoningTokens: 0,
  };
  const [first, second] = three;
  if (first === undefined || second === undefined) throw new Error("three requests");
  const report = await run([{ ...first, usage }, second], ["none"]);
  expect(report.recorded).toMatchObject({
    requests: 1,
    costPicoUsd: String((1000 + 10_000 * 0.1) * 3_000_000),
    warmStartTokens: 10_000,
  });
});

test("providers without markers, requests without a time and models without a price are reported apart", async () => {
  const report = await run(
    [
      request(0, 0, [system], { model: "gpt-5.5" }),
      request(null, 0, [system]),
      request(1, 0, [system], { model: "a-model-nobody-knows" }),
    ],
    ["tail-5m"],
    "day",
  );
  expect(report.requests).toBe(1);
  expect(report.automaticOnly).toMatchObject({ sessions: 1, requests: 1, inputTokens: 10_000 });
  expect(report.skipped).toContainEqual({ reason: "request without a time", count: 1 });
  expect(report.standIns).toEqual([
    { reason: "claude-sonnet-4-6 stands in for a-model-nobody-knows", count: 1 },
  ]);
  expect(report.groups.map(({ name, requests }) => [name, requests])).toEqual([["2026-11-15", 1]]);
});

test("a span that is written again before it was read is wasted", () => {
  const watch = createWriteWatch();
  watch.observe({ shared: 0, read: 0, written: 100 });
  watch.observe({ shared: 100, read: 0, written: 150 });
  watch.observe({ shared: 150, read: 150, written: 150 });
  expect(watch.totals()).toEqual({ writtenTokens: 250, wastedTokens: 100, firstTokens: 150 });
});
