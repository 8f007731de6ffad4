import { describe, expect, test } from "vitest";
import { noUsage, type Usage } from "../../core/message/usage.ts";
import { explainRecordings } from "./explain-recording.ts";
import type { ExplainedCall } from "./explained-call.ts";
import { collect } from "../readers/test-kit.ts";
import type { Recorded, RecordedBlock, RecordedRequest, RecordedSession } from "../recording.ts";

describe("a recorded session", () => {
  test("that reads what was kept gives no miss", async () => {
    const calls = await explain([opening(), reply(60_000, usageOf(12_000, 1000))]);
    expect(calls.map(causeOf)).toEqual(["first call", "no miss"]);
    expect(calls[1]).toMatchObject({ call: 2, gapMs: 60_000, shortfallTokens: 0 });
  });

  test("pauses longer than the lifetime that its bills show", async () => {
    const late = await explain([opening(), reply(301_000, usageOf(0, 13_000))]);
    expect(late.map(causeOf)).toEqual(["first call", "lifetime expired"]);
    expect(late[1]).toMatchObject({
      shortfallTokens: 12_000,
      evidence: "recorded",
      explanation: { lostTokens: 12_000, block: { path: "block 3" } },
    });
    const hourly = { ...noUsage, cacheWriteTokens: { "1h": 12_000 } };
    const inTime = await explain([
      { ...opening(), usage: hourly },
      reply(301_000, usageOf(0, 13_000)),
    ]);
    expect(inTime.map(causeOf)).toEqual(["first call", "provider lost it"]);
    expect(inTime[1]?.explanation.advice).toContain("that the recording does not hold");
  });

  test("changes its model", async () => {
    const other = { ...reply(60_000, usageOf(0, 13_000)), model: "claude-opus-4-6" };
    expect((await explain([opening(), other])).map(causeOf)).toEqual([
      "first call",
      "model changed",
    ]);
  });

  test("is compacted: the same thread with another history", async () => {
    const compacted: RecordedRequest = {
      ...reply(60_000, usageOf(5000, 1500)),
      keep: 2,
      append: [block("summary", 1500)],
    };
    const long = [opening(), reply(30_000, usageOf(12_000, 3000)), compacted];
    expect((await explain(long)).map(causeOf)).toEqual([
      "first call",
      "no miss",
      "history rewritten",
    ]);
  });

  test("compares every thread with its own calls", async () => {
    const side = { ...opening(), thread: "agent", startMs: 5000, endMs: 6000 };
    const calls = await explain([opening(), side, reply(60_000, usageOf(12_000, 1000))]);
    expect(calls.map(({ thread, explanation }) => [thread, explanation.cause])).toEqual([
      ["", "first call"],
      ["agent", "first call"],
      ["", "no miss"],
    ]);
  });
});

describe("a session whose replies begin to think", () => {
  test("reports thinking that was switched on if the history was lost", async () => {
    const calls = await explain([...toolTurn(), question(usageOf(10_000, 4000)), thoughtful()]);
    expect(calls.map(causeOf)).toEqual(["first call", "no miss", "parameter changed", "no miss"]);
    expect(calls[2]).toMatchObject({
      evidence: "inferred",
      explanation: {
        detail: "thinking: off → on, as the replies show",
        advice: expect.stringContaining("Keep thinking as it is over a session"),
      },
    });
  });

  test("reports nothing if nothing was lost", async () => {
    const calls = await explain([...toolTurn(), question(usageOf(13_000, 1000)), thoughtful()]);
    expect(calls.map(causeOf)).toEqual(["first call", "no miss", "no miss", "no miss"]);
  });

  test("reports nothing if the reply does not think or is not recorded", async () => {
    const lost = [...toolTurn(), question(usageOf(10_000, 4000))];
    const silent = { ...thoughtful(), append: thoughtful().append.slice(1) };
    for (const requests of [lost, [...lost, silent]]) {
      expect((await explain(requests))[2]?.explanation.cause).toBe("changed after the head");
    }
  });

  test("reports nothing if it thought before", async () => {
    const [first, second] = toolTurn();
    const append = [thought, ...(second?.append ?? [])];
    const before = { ...opening(), ...second, append };
    const lost = { ...question(usageOf(10_000, 4000)), keep: 6 };
    const calls = await explain([first ?? opening(), before, lost, { ...thoughtful(), keep: 8 }]);
    expect(calls[2]?.explanation.cause).toBe("changed after the head");
  });
});

describe("a read that stops short although everything recorded was as before", () => {
  const headRead = { ...opening(), usage: usageOf(10_000, 2000) };
  const [, turn = opening()] = toolTurn();
  const next = { ...reply(60_000, usageOf(10_000, 4000)), keep: 5 };

  test("changed after the head, where the recording lacks parts of the request", async () => {
    const call = (await explain([headRead, turn, next]))[2];
    expect(call).toMatchObject({
      evidence: "inferred",
      explanation: {
        cause: "changed after the head",
        detail:
          "in blocks 3 to 5, tokens 10000 to 13000; 10000 tokens were read, as much as by call 1",
        lostTokens: 3000,
        block: { path: "block 3" },
      },
    });
    expect(call?.explanation.advice).toContain("The provider still had the head");
  });

  test("was lost by the provider, where requests are recorded whole", async () => {
    const call = (await explain([headRead, turn, next], { isWhole: true }))[2];
    expect(call).toMatchObject({
      evidence: "recorded",
      explanation: { cause: "provider lost it", lostTokens: 3000 },
    });
  });

  test("was lost by the provider, where not even the recorded head was read", async () => {
    const nothing = { ...next, usage: usageOf(0, 14_000) };
    const calls = await explain([headRead, turn, nothing]);
    expect(calls.map(causeOf)).toEqual(["first call", "no miss", "provider lost it"]);
  });

  test("came from another host, where each host keeps what it saw and the read ends with an earlier call", async () => {
    const ends = [0, 12_288, 16_384, 12_288].map((read, index) => ({
      ...(index === 0 ? opening() : reply(index * 20_000, noUsage)),
      model: "gpt-5.5",
      keep: index === 0 ? 0 : 1 + 2 * index,
      usage: { ...noUsage, cacheReadTokens: read, uncachedTokens: 14_000 + index * 4000 - read },
    }));
    const calls = await explain(ends, { wire: "openai-responses" });
    expect(calls[3]).toMatchObject({
      evidence: "inferred",
      explanation: {
        cause: "another host",
        detail: "12288 of 20480 tokens were read, as much as by call 2",
      },
    });
  });

  test("was not marked before, where the bill shows neither a read nor a write", async () => {
    const plain = { ...turn, usage: { ...noUsage, uncachedTokens: 13_000 } };
    const calls = await explain([opening(), plain, { ...next, usage: usageOf(0, 14_000) }]);
    expect(calls[2]).toMatchObject({
      evidence: "inferred",
      explanation: { cause: "nothing was marked" },
    });
  });

  test("names only the span where no recorded call left what was read", async () => {
    const calls = await explain([opening(), turn, { ...next, usage: usageOf(9000, 5000) }]);
    expect(calls[2]?.explanation).toMatchObject({
      cause: "changed after the head",
      detail: "in blocks 2 to 5, tokens 9000 to 13000",
    });
  });
});

test("calls come in order, even if one waits for its reply", async () => {
  const side = { ...opening(), thread: "agent", startMs: 95_000, endMs: 96_000 };
  const lost = [...toolTurn(), question(usageOf(10_000, 4000))];
  const calls = await explain([...lost, side, thoughtful()]);
  expect(calls.map(({ call }) => call)).toEqual([1, 2, 3, 4, 5]);
  expect(calls[2]?.explanation.cause).toBe("parameter changed");
});

test("a miss shows the first block that was not read, if the recording has excerpts", async () => {
  const requests = [...toolTurn(), question(usageOf(10_000, 4000))];
  const [, hit, miss] = await explain(requests.map(withWords));
  expect(hit?.firstUnread).toBeUndefined();
  expect(miss?.firstUnread).toEqual({ path: "block 3", excerpt: "words of ask" });
  expect((await explain(requests))[2]?.firstUnread).toBeUndefined();
});

test("calls without usage are followed but not explained", async () => {
  const silent = { ...reply(30_000, usageOf(0, 0)), usage: null };
  const calls = await explain([opening(), silent]);
  expect(calls.map(({ call }) => call)).toEqual([1]);
});

test("skipped lines are passed on", async () => {
  const skipped: string[] = [];
  const lines: Recorded[] = [{ type: "skipped", file: "a", line: 3, reason: "it is not JSON" }];
  await collect(explainRecordings(streamOf(lines), ({ reason }) => void skipped.push(reason)));
  expect(skipped).toEqual(["it is not JSON"]);
});

function causeOf({ explanation }: ExplainedCall): string {
  return explanation.cause;
}

/** Tools and system of 5,000 tokens each, a question of 2,000; all of it written. */
function opening(): RecordedRequest {
  return {
    thread: "",
    startMs: 0,
    endMs: 1000,
    model: "claude-sonnet-4-6",
    keep: 0,
    append: [
      { ...block("tools", 5000), tier: "T0", kind: "tool definition", role: "tools" },
      { ...block("system", 5000), tier: "T1", kind: "system text", role: "system" },
      block("ask", 2000),
    ],
    remainderTokens: 0,
    usage: usageOf(0, 12_000),
    markers: null,
    settings: {},
  };
}

/** An answer and a further question, 500 tokens each. */
function reply(startMs: number, usage: Usage): RecordedRequest {
  const answer: RecordedBlock = { ...block("answer", 500), role: "assistant" };
  return {
    ...opening(),
    startMs,
    endMs: startMs,
    keep: 3,
    append: [answer, block("more", 500)],
    usage,
  };
}

function withWords(request: RecordedRequest): RecordedRequest {
  const append = request.append.map((each) => ({ ...each, excerpt: `words of ${each.hash}` }));
  return { ...request, append };
}

/** A question, and a tool call with its result: 13,000 tokens, all cached. */
function toolTurn(): RecordedRequest[] {
  const use: RecordedBlock = { ...block("use", 500), role: "assistant", kind: "tool_use" };
  const result: RecordedBlock = { ...block("result", 500), kind: "tool_result" };
  return [opening(), { ...reply(30_000, usageOf(12_000, 1000)), append: [use, result] }];
}

/** The model's answer and the user's next message. */
function question(usage: Usage): RecordedRequest {
  return { ...reply(90_000, usage), keep: 5 };
}

const thought: RecordedBlock = { ...block("thought", 500), role: "assistant", kind: "thinking" };

/** The reply to the question begins with thinking. */
function thoughtful(): RecordedRequest {
  const answer: RecordedBlock = { ...block("second answer", 500), role: "assistant" };
  return {
    ...reply(120_000, usageOf(14_000, 1500)),
    keep: 7,
    append: [thought, answer, block("even more", 500)],
  };
}

function block(hash: string, tokens: number): RecordedBlock {
  const common = { endsMessage: true, mayCarryMarker: true } as const;
  return { hash, tokens, tier: "T3", kind: "text", role: "user", ...common };
}

function usageOf(cacheReadTokens: number, written: number): Usage {
  return { ...noUsage, cacheReadTokens, cacheWriteTokens: { "5m": written } };
}

const session: RecordedSession = {
  id: "one",
  file: "one.jsonl",
  format: "ctx-trace/1",
  agent: null,
  wire: "anthropic-messages",
  blocks: "as sent",
  isWhole: false,
  workspace: "one.jsonl",
};

function explain(
  requests: readonly RecordedRequest[],
  facts: Partial<RecordedSession> = {},
): Promise<ExplainedCall[]> {
  const recorded = requests.map((request): Recorded => ({
    type: "request",
    sessionId: "one",
    request,
  }));
  return collect(
    explainRecordings(
      streamOf([{ type: "session", session: { ...session, ...facts } }, ...recorded]),
    ),
  );
}

async function* streamOf(recorded: readonly Recorded[]): AsyncGenerator<Recorded> {
  yield* recorded;
}
