// Goal: what is priced has the billed size, also where a bill is missing between others or another tokenizer counts on.
import { expect, test } from "vitest";
import { findPolicy } from "../../src/core/cache/policies.ts";
import { noUsage, type Usage } from "../../src/core/message/usage.ts";
import {
  replay,
  type Recorded,
  type RecordedBlock,
  type ReplayReport,
} from "../../src/replay/index.ts";

const noon = Date.parse("2026-11-15T12:00:00Z");

function block(hash: string, tokens: number): RecordedBlock {
  const place = { tier: "T3", kind: "text", role: "user" } as const;
  return { hash, tokens, ...place, endsMessage: true, mayCarryMarker: true };
}

interface Call {
  readonly adds: number;
  readonly billed: number | null;
  readonly model?: string;
}

/** Each call adds one block to the one before. */
async function* recording(calls: readonly Call[]): AsyncGenerator<Recorded> {
  const file = "a.jsonl";
  const facts = { format: "ctx-trace/1", agent: "tester", wire: "anthropic-messages" } as const;
  const rest = { blocks: "as sent", isWhole: false, workspace: file } as const;
  yield { type: "session", session: { id: "s1", file, ...facts, ...rest } };
  for (const [index, { adds, billed, model = "claude-opus-4-6" }] of calls.entries()) {
    const usage: Usage | null = billed === null ? null : { ...noUsage, uncachedTokens: billed };
    const startMs = noon + index * 60_000;
    const common = { thread: "", endMs: null, remainderTokens: 0, markers: null, settings: {} };
    const append = [block(`b${index}`, adds)];
    const request = { ...common, startMs, model, keep: index, append, usage };
    yield { type: "request", sessionId: "s1", request };
  }
}

async function priced(
  calls: readonly Call[],
): Promise<{ report: ReplayReport; sizes: readonly number[] }> {
  const sizes: number[] = [];
  const report = await replay(recording(calls), {
    policies: [findPolicy("none")],
    model: null,
    groupBy: "none",
    onCall: ({ outcomes }) => void sizes.push(outcomes[0]?.usage.uncachedTokens ?? 0),
  });
  return { report, sizes };
}

test("every prompt that has a bill has its size, also after a change to a model that counts more tokens", async () => {
  const { report, sizes } = await priced([
    { adds: 10_000, billed: 10_000 },
    { adds: 1000, billed: 11_100 },
    // The new tokenizer: 1.4 times as many for what is sent again, and its own count of what is new.
    { adds: 2000, billed: 17_540, model: "claude-opus-4-8" },
    { adds: 1000, billed: 18_600, model: "claude-opus-4-8" },
    { adds: 1000, billed: 14_300 },
  ]);
  expect(sizes).toEqual([10_000, 11_100, 17_540, 18_600, 14_300]);
  expect(report.recordedReads).toMatchObject([
    { billedPromptTokens: 71_540, promptErrorTokens: 0 },
  ]);
});

test("a prompt without a bill is measured by the bills around it", async () => {
  const { sizes } = await priced([
    { adds: 10_000, billed: 10_000 },
    { adds: 1000, billed: null },
    { adds: 3000, billed: 14_800 },
  ]);
  // 4,000 counted are 4,800 by the bill: of the first 1,000 they are 1,200.
  expect(sizes).toEqual([10_000, 11_200, 14_800]);
});

test("what only a later bill shows was there from the start of the thread", async () => {
  const { sizes } = await priced([
    { adds: 1000, billed: null },
    { adds: 1000, billed: 32_000 },
  ]);
  expect(sizes).toEqual([31_000, 32_000]);
});
