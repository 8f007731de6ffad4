// Goal: a replay says what was paid, what the same calls would have cost, and why. Method: three small calls with every
// figure worked out by hand. Sonnet 4.6: $3 per million tokens of input, $3.75 written, $0.30 read, $15 of output.
import { expect, test } from "vitest";
import { findPolicy } from "../../src/core/cache/policies.ts";
import { noUsage, type Usage } from "../../src/core/message/usage.ts";

import {
  headlineOf,
  replay,
  type Recorded,
  type RecordedBlock,
  type RecordedSession,
  type ReplayReport,
} from "../../src/replay/index.ts";

const noon = Date.parse("2026-11-15T12:00:00Z");

function block(hash: string, tokens: number, more: Partial<RecordedBlock> = {}): RecordedBlock {
  const common = { kind: "text", role: "user", endsMessage: true, mayCarryMarker: true } as const;
  return { hash, tokens, tier: "T3", ...common, ...more };
}

const head = { tier: "T1", kind: "system text", role: "system" } as const;
const system = block("system", 10_000, head);
const reply = (hash: string): RecordedBlock => block(hash, 1000, { role: "assistant" });

function bill(read: number, written: number): Usage {
  return {
    ...noUsage,
    cacheReadTokens: read,
    cacheWriteTokens: { "5m": written },
    outputTokens: 100,
  };
}

interface Call {
  readonly keep: number;
  readonly append: readonly RecordedBlock[];
  readonly usage: Usage | null;
  readonly minutes?: number | null;
  readonly model?: string;
}

function session(id: string, more: Partial<RecordedSession> = {}): Recorded {
  const file = `${id}.jsonl`;
  const facts = { format: "ctx-trace/1", agent: "tester", wire: "anthropic-messages" } as const;
  const rest = { blocks: "as sent", isWhole: false, workspace: file } as const;
  return { type: "session", session: { id, file, ...facts, ...rest, ...more } };
}

function calls(sessionId: string, asked: readonly Call[]): Recorded[] {
  return asked.map(({ keep, append, usage, minutes, model }, index): Recorded => {
    const startMs = minutes === null ? null : noon + (minutes ?? index) * 60_000;
    const rest = { thread: "", endMs: null, remainderTokens: 0, markers: null, settings: {} };
    const request = { ...rest, startMs, model: model ?? "claude-sonnet-4-6", keep, append, usage };
    return { type: "request", sessionId, request };
  });
}

async function* stream(recorded: readonly Recorded[]): AsyncGenerator<Recorded> {
  yield* recorded;
}

function report(recorded: readonly Recorded[], policy = "tail-5m"): Promise<ReplayReport> {
  return replay(stream(recorded), { policies: [findPolicy(policy)], model: null, groupBy: "none" });
}

const first = { keep: 0, append: [system, block("q0", 1000)], usage: bill(0, 11_000) };
const last = { keep: 4, append: [reply("a1"), block("q2", 1000)], usage: bill(13_000, 2000) };
/** The second call read nothing, and the file does not say why. */
const unseen = { keep: 2, append: [reply("a0"), block("q1", 1000)], usage: bill(0, 13_000) };
/** The second call read nothing, because its system text is another one. */
const seen = {
  keep: 0,
  usage: bill(0, 13e3),
  append: [block("other", 1e4, head), block("q0", 1e3), reply("a0"), block("q1", 1e3)],
};

test("the first line says what was paid, input and output apart, and what to do about the difference", async () => {
  const found = await report([session("s1"), ...calls("s1", [first, unseen, last])]);
  expect(headlineOf(found)).toBe(
    "You paid $0.1059 ($0.1014 for input, $0.0045 for output). " +
      "The same sessions would have cost $0.0679 under tail-5m, $0.0379 less. " +
      "$0.0379 of it is your changing system text: freeze it (first seen at call 2 of s1, 2026-11-15 12:01).",
  );
  expect(found.summary.headline).toMatchObject({
    paid: { requests: 3, inputUsd: 0.1014, outputUsd: 0.0045, totalPicoUsd: "105900000000" },
    lostUsd: 0.03795,
    plan: "tail-5m",
  });
});

test("policies pay for a change that only the bill shows, and both views are given", async () => {
  const { summary } = await report([session("s1"), ...calls("s1", [first, unseen, last])]);
  expect(summary.comparison).toMatchObject({
    requests: 3,
    recordedUsd: 0.1014,
    policies: [{ policy: "tail-5m", costUsd: 0.06345, withBreaksUsd: 0.1014 }],
  });
  expect(summary.causes[0]).toMatchObject({
    cause: "system changed",
    lostPicoUsd: "37950000000",
    calls: 1,
    first: { session: "s1", call: 2, evidence: "inferred" },
  });
});

test("a change that the recording shows costs every policy the same, and freezing it is what would save", async () => {
  const { summary } = await report([session("s1"), ...calls("s1", [first, seen, last])]);
  expect(summary.comparison?.policies).toEqual([
    { policy: "tail-5m", costUsd: 0.1014, withBreaksUsd: 0.1014 },
  ]);
  expect(summary.causes[0]).toMatchObject({
    cause: "system changed",
    lostPicoUsd: "37950000000",
    first: { call: 2, evidence: "recorded" },
  });
  expect(summary.headline?.wouldCostUsd).toBe(0.06795);
});

test("what another session had left for the first call is given to the policies, too", async () => {
  const warm = { ...first, usage: bill(10_000, 1000) };
  const { summary } = await report([session("s1"), ...calls("s1", [warm])]);
  // 10,000 read and 1,000 written, as recorded; without it 11,000 would have been written.
  expect(summary.comparison).toMatchObject({
    recordedUsd: 0.00675,
    policies: [{ costUsd: 0.00675, withBreaksUsd: 0.00675 }],
  });
  expect(summary.comparison?.limitUsd).toBeLessThan(0.00675);
});

test("sessions are sorted by what they lost, days by date, and causes by money", async () => {
  const cheap = calls("s1", [first]);
  const dear = calls("s2", [first, unseen, { ...last, usage: bill(0, 15_000), minutes: 1443 }]);
  const { summary } = await report([session("s1"), ...cheap, session("s2"), ...dear]);
  expect(summary.sessions.map(({ session: id, topCause }) => [id, topCause])).toEqual([
    ["s2", "system changed"],
    ["s1", null],
  ]);
  expect(summary.days.map(({ day, paid }) => [day, paid.requests])).toEqual([
    ["2026-11-15", 3],
    ["2026-11-16", 1],
  ]);
  const money = summary.causes.map(({ lostUsd }) => lostUsd);
  expect(money).toEqual(money.toSorted((left, right) => right - left));
});

test("every file and every request is somewhere, with the reason where it is not used", async () => {
  const untimed = calls("s3", [
    { ...first, minutes: null },
    { ...unseen, minutes: null },
  ]);
  const wire = "openai-responses";
  const { summary } = await report([
    session("s1"),
    ...calls("s1", [first, unseen]),
    session("s2", { wire }),
    ...calls("s2", [{ ...first, model: "gpt-5.5" }]),
    session("s3"),
    ...untimed,
    { type: "skipped", file: "s4.jsonl", line: null, reason: "it is empty" },
  ]);
  expect(summary.accounting).toEqual({
    files: { all: 4, compared: 1, automatic: 1, billed: 0, unused: 2 },
    requests: { all: 5, compared: 2, automatic: 1, billed: 0, unused: 2 },
    unusedFiles: [
      { reason: "request without a time", count: 1 },
      { reason: "it is empty", count: 1 },
    ],
    unusedRequests: [{ reason: "request without a time", count: 2 }],
  });
});
