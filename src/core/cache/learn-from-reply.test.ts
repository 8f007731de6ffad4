import { describe, expect, test } from "vitest";
import type { Usage } from "../message/usage.ts";
import type { ModelFacts } from "../models/model-facts.ts";
import { type CacheState, type KnownEntry } from "./cache-state.ts";
import { addEvidence } from "./evidence.ts";
import { learnFromReply, type ReplyLesson } from "./learn-from-reply.ts";
import { openPace } from "./pace.ts";
import { planCache } from "./plan-cache.ts";
import { findPolicy } from "./policies.ts";
import {
  bedrock,
  blocksOf,
  entryAt,
  nowMs,
  olderGpt,
  sonnet,
  stateWith,
  usageOf,
} from "./test-kit.ts";

/** Ends at 2000, 3000, 5000, 6000 and 6050 tokens. */
const talk = ["static 2000", "user 1000", "assistant 2000", "user 1000", "volatile 50"];

interface Answered {
  readonly shorts?: readonly string[];
  readonly state?: CacheState;
  readonly usage: Usage;
  readonly reportsCache?: boolean;
  readonly model?: ModelFacts;
  readonly policy?: string;
  readonly isOwnFault?: boolean;
}

function learn({
  shorts = talk,
  state = stateWith(),
  usage,
  reportsCache = true,
  model = sonnet,
  policy = "tail-5m",
  isOwnFault = false,
}: Answered): ReplyLesson {
  const blocks = blocksOf(...shorts);
  const { markers } = findPolicy(policy);
  const pace = openPace("human");
  const plan = planCache({ blocks, rules: model, markers, state, pace, now: nowMs });
  return learnFromReply({
    state,
    plan,
    blocks,
    rules: model.cache,
    usage,
    reportsCache,
    startMs: nowMs,
    isOwnFault,
  });
}

function namesOf({ state }: ReplyLesson): readonly string[] {
  return state.entries.map(({ block, lifetime }) => `${block} ${lifetime}`);
}

describe("a reply as expected", () => {
  test("leaves what was written, where it ended and what it measured", () => {
    expect(learn({ usage: usageOf(50, 0, { "5m": 6100 }) })).toEqual({
      state: {
        entries: [{ ...entryAt(3, "5m", 0), tokens: 6100 }],
        lastTail: { key: "k3", block: 3 },
        measured: { key: "k3", block: 3, tokens: 6100 },
        lastStartMs: nowMs,
        calls: 1,
        contents: { blocks: 4, messagesFrom: 1, hasImages: false, thinkingFrom: null },
        evidence: stateWith().evidence,
        accounts: {
          paid: { ours: 7675, "short tail": 7675, "long tail": 12_250, plain: 6150 },
          promptTokensMax: 6150,
          tails: [{ key: "k3", block: 3, shortMs: nowMs, longMs: nowMs }],
        },
      },
      verdict: { kind: "as expected", expectedTokens: 0, reportedTokens: 0, promise: null },
      refuted: [],
    });
  });

  test("lets the entry that was read live on, and speaks for the provider", () => {
    const lesson = learn({
      state: stateWith(entryAt(1, "5m", 100_000)),
      usage: usageOf(50, 3000, { "5m": 3000 }),
    });
    expect(lesson.verdict).toMatchObject({ kind: "as expected", promise: "writes are kept" });
    expect(lesson.state.evidence["writes are kept"]).toEqual({ held: 1, broken: 0 });
    expect(lesson.state.entries).toEqual([
      { ...entryAt(1, "5m", 100_000), touchedMs: nowMs, tokens: 3000 },
      { ...entryAt(3, "5m", 0), tokens: 6000 },
    ]);
  });

  test("may be a little off", () => {
    const state = stateWith({ ...entryAt(1, "5m"), tokens: 3000 });
    expect(learn({ state, usage: usageOf(50, 2800, { "5m": 3000 }) }).verdict.kind).toBe(
      "as expected",
    );
    expect(learn({ state, usage: usageOf(50, 2799, { "5m": 3000 }) }).verdict.kind).toBe(
      "read less",
    );
    expect(learn({ state, usage: usageOf(50, 3400, { "5m": 3000 }) }).verdict.kind).toBe(
      "as expected",
    );
    expect(learn({ state, usage: usageOf(50, 3401, { "5m": 3000 }) }).verdict.kind).toBe(
      "read more",
    );
  });
});

describe("a size that was only estimated", () => {
  const estimated = stateWith(entryAt(1, "5m"));

  test("is learned from the bill, and counts against no promise", () => {
    const lesson = learn({ state: estimated, usage: usageOf(50, 2500, { "5m": 3000 }) });
    expect(lesson.verdict).toMatchObject({ kind: "as expected", promise: "writes are kept" });
    expect(lesson.state.entries[0]).toMatchObject({ block: 1, tokens: 2500 });
    const more = learn({ state: estimated, usage: usageOf(50, 3900, { "5m": 3000 }) });
    expect(more.verdict.kind).toBe("as expected");
    expect(more.state.entries[0]).toMatchObject({ block: 1, tokens: 3900 });
  });

  test("cannot be off by half: such a read ended elsewhere", () => {
    const lesson = learn({ state: estimated, usage: usageOf(50, 1500, { "5m": 4500 }) });
    expect(lesson.verdict).toMatchObject({ kind: "read less", promise: "writes are kept" });
    const more = learn({ state: estimated, usage: usageOf(50, 4100, { "5m": 2000 }) });
    expect(more.verdict.kind).toBe("read more");
  });

  test("is no excuse where the read ends at another entry", () => {
    const state = stateWith({ ...entryAt(0, "1h"), tokens: 2500 }, entryAt(1, "5m"));
    const lesson = learn({ state, usage: usageOf(50, 2500, { "5m": 3500 }) });
    expect(lesson.verdict.kind).toBe("read less");
    expect(namesOf(lesson)).toEqual(["0 1h", "3 5m"]);
  });

  test("may hide a prefix that is too short to keep: that refutes nothing", () => {
    const shorts = ["static 1200", "user 100", "assistant 100", "user 100"];
    const state = stateWith(entryAt(0, "5m"));
    const lesson = learn({ shorts, state, usage: usageOf(1450, 0) });
    expect(lesson.verdict).toMatchObject({ kind: "read less", promise: null });
  });
});

test("a shortfall that our own request caused counts against no promise", () => {
  const usage = usageOf(50, 0, { "5m": 6000 });
  const lesson = learn({ state: stateWith(entryAt(1, "5m")), usage, isOwnFault: true });
  expect(lesson.verdict).toMatchObject({ kind: "read less", promise: null });
  expect(lesson.state.evidence).toEqual(stateWith().evidence);
});

describe("a reply that read less", () => {
  test("takes away the entries that cannot be there, and keeps the others", () => {
    const state = stateWith(entryAt(0, "1h"), entryAt(1, "5m"));
    const lesson = learn({ state, usage: usageOf(50, 2000, { "5m": 4000 }) });
    expect(lesson.verdict).toEqual({
      kind: "read less",
      expectedTokens: 3000,
      reportedTokens: 2000,
      promise: "writes are kept",
    });
    expect(namesOf(lesson)).toEqual(["0 1h", "3 5m"]);
    expect(lesson.state.evidence["writes are kept"]).toEqual({ held: 0, broken: 1 });
  });

  test("refutes a promise once it broke too often, and says so once", () => {
    const once = stateWith(entryAt(1, "5m"));
    const evidence = addEvidence(once.evidence, "writes are kept", false);
    const usage = usageOf(50, 0, { "5m": 6000 });
    expect(learn({ state: once, usage }).refuted).toEqual([]);
    const twice = learn({ state: { ...once, evidence }, usage });
    expect(twice.refuted).toEqual(["writes are kept"]);
    const thrice = { ...once, evidence: twice.state.evidence };
    expect(learn({ state: thrice, usage }).refuted).toEqual([]);
  });

  test("says nothing against a provider that promises nothing", () => {
    const lesson = learn({
      state: stateWith(entryAt(1, "5m")),
      usage: usageOf(50, 0, { "5m": 6000 }),
      model: bedrock,
    });
    expect(lesson.verdict.kind).toBe("read less");
    expect(lesson.state.evidence).toEqual(stateWith().evidence);
  });
});

describe("a reply that read more", () => {
  test("adds the entry whose end is where the provider read to", () => {
    const lesson = learn({ usage: usageOf(50, 3020, { "5m": 3000 }) });
    expect(lesson.verdict).toMatchObject({
      kind: "read more",
      expectedTokens: 0,
      reportedTokens: 3020,
    });
    expect(namesOf(lesson)).toEqual(["1 5m", "3 5m"]);
  });

  test("adds none where no block ends near there", () => {
    expect(namesOf(learn({ usage: usageOf(50, 4000, { "5m": 2000 }) }))).toEqual(["3 5m"]);
  });
});

test("a reply that does not tell of its cache teaches nothing about it (N-15)", () => {
  const state = stateWith(entryAt(1, "5m"));
  const lesson = learn({ state, usage: usageOf(6050, 0), reportsCache: false });
  expect(lesson.verdict).toMatchObject({
    kind: "not told",
    expectedTokens: 3000,
    promise: null,
  });
  expect(lesson.state.evidence).toEqual(state.evidence);
  expect(lesson.state.measured).toBeNull();
  expect(namesOf(lesson)).toEqual(["1 5m", "3 5m"]);
});

const spokenFor = (entry: KnownEntry, shorts: readonly string[] = talk): unknown =>
  learn({ shorts, state: stateWith(entry), usage: usageOf(0, 0) }).verdict.promise;

describe("what a hit speaks for", () => {
  test("an old entry: that long lifetimes last", () => {
    expect(spokenFor(entryAt(1, "1h", 300_001))).toBe("long lifetimes last");
  });

  test("one that outlived its lifetime because it was touched: that markers refresh", () => {
    expect(spokenFor({ ...entryAt(1, "5m", 500_000), touchedMs: nowMs - 100_000 })).toBe(
      "markers refresh",
    );
  });

  test("one far before its marker: that looking back finds it", () => {
    expect(spokenFor(entryAt(0, "5m"), ["static 2000", "said 10 x10"])).toBe("lookback finds");
    expect(spokenFor(entryAt(0, "5m"), ["static 2000", "said 10 x9"])).toBe("writes are kept");
  });
});

describe("what is kept of entries", () => {
  test("one for each prefix and lifetime, the latest", () => {
    const state = stateWith(entryAt(3, "5m", 400_000), entryAt(3, "1h", 4_000_000));
    const lesson = learn({ state, usage: usageOf(50, 0, { "5m": 6000 }) });
    expect(lesson.state.entries).toEqual([
      entryAt(3, "1h", 4_000_000),
      { ...entryAt(3, "5m", 0), tokens: 6000 },
    ]);
  });

  test("a few that expired, and no more than that", () => {
    const expired = Array.from({ length: 100 }, (_, block) => entryAt(block + 10, "5m", 400_000));
    const lesson = learn({ state: stateWith(...expired), usage: usageOf(50, 0, { "5m": 6000 }) });
    expect(lesson.state.entries).toHaveLength(17);
    expect(lesson.state.entries.at(-1)).toEqual({ ...entryAt(3, "5m", 0), tokens: 6000 });
  });

  test("the last 32 that live, so that a session stays small", () => {
    const live = Array.from({ length: 600 }, (_, block) => entryAt(block + 10, "1h", 600 - block));
    const lesson = learn({ state: stateWith(...live), usage: usageOf(50, 0, { "5m": 6000 }) });
    expect(lesson.state.entries).toEqual([
      ...live.slice(-31),
      { ...entryAt(3, "5m", 0), tokens: 6000 },
    ]);
  });

  test("tools and system text as well, however long ago they were marked", () => {
    const later = Array.from({ length: 40 }, (_, block) => entryAt(block + 10, "1h", 40 - block));
    const otherTools = { ...entryAt(0, "1h", 600), key: "k0 with other tools" };
    const state = stateWith(otherTools, ...later);
    const lesson = learn({ state, usage: usageOf(50, 0, { "5m": 6000 }) });
    expect(lesson.state.entries[0]).toEqual(otherTools);
    expect(lesson.state.entries).toHaveLength(33);
  });
});

test("where the provider keeps whole steps, the prompt is measured and what it read is not", () => {
  const shorts = ["static 5000", "user 1000"];
  const state = stateWith({ ...entryAt(0, "24h", 60_000, olderGpt.cache), lifetime: null });
  const lesson = learn({ shorts, state, model: olderGpt, usage: usageOf(1904, 4096) });
  expect(lesson.verdict.kind).toBe("as expected");
  expect(lesson.state.measured).toEqual({ key: "k1", block: 1, tokens: 6000 });
  expect(lesson.state.entries.every(({ tokens }) => tokens === null)).toBe(true);
});

test("a prompt of which nothing is kept measures its own end", () => {
  const shorts = ["static 500", "user 100"];
  expect(learn({ shorts, usage: usageOf(700, 0) }).state.measured).toEqual({
    key: "k1",
    block: 1,
    tokens: 700,
  });
});

test("a first image hides the written messages, and counts against no promise", () => {
  const shorts = ["static 3000", "user 2000", "said 50", "image 1000", "user 100"];
  const state = {
    ...stateWith(entryAt(0, "5m"), entryAt(1, "5m")),
    contents: { blocks: 2, messagesFrom: 1, hasImages: false, thinkingFrom: null },
  };
  const lesson = learn({ shorts, state, usage: usageOf(0, 3000, { "5m": 3150 }) });
  expect(lesson.verdict).toMatchObject({ kind: "as expected", expectedTokens: 3000 });
  expect(lesson.state.entries.map(({ block }) => block)).toEqual([0, 4]);
  expect(lesson.state.contents.hasImages).toBe(true);
});

describe("a step: an entry for an hour after a prefix for five minutes", () => {
  const paused = 7 * 60_000;
  /** The step ends at 3000 tokens and was written seven minutes ago. */
  const step: KnownEntry = { ...entryAt(1, "1h", paused), tokens: 3000, isStep: true };

  test("is known as one when it is written, and an entry after it for five minutes is none", () => {
    const shorts = ["static 2000", "user 10", "assistant 2000", "user 1000"];
    const state = stateWith({ ...entryAt(0, "5m"), tokens: 2000 });
    const lesson = learn({
      shorts,
      state,
      policy: "adaptive",
      usage: usageOf(0, 2000, { "1h": 10, "5m": 3000 }),
    });
    const written = lesson.state.entries.filter(({ touchedMs, block }) => {
      return touchedMs === nowMs && block > 0;
    });
    expect(written.map(({ block, lifetime, isStep }) => [block, lifetime, isStep])).toEqual([
      [1, "1h", true],
      [2, "5m", undefined],
      [3, "5m", undefined],
    ]);
  });

  test("that is read after a pause speaks for steps, and one that is not refutes them at once", () => {
    const held = learn({ state: stateWith(step), usage: usageOf(50, 3000, { "5m": 3000 }) });
    expect(held.verdict).toMatchObject({ kind: "as expected", promise: "steps last" });
    const lost = learn({ state: stateWith(step), usage: usageOf(50, 0, { "5m": 6000 }) });
    expect(lost.verdict).toMatchObject({ kind: "read less", promise: "steps last" });
    expect(lost.refuted).toEqual(["steps last"]);
  });

  test("says nothing about entries that were written for an hour from the start", () => {
    const { isStep: _isStep, ...firm } = step;
    const lost = learn({ state: stateWith(firm), usage: usageOf(50, 0, { "5m": 6000 }) });
    expect(lost.verdict.promise).toBe("long lifetimes last");
    expect(lost.refuted).toEqual([]);
  });

  test("is not expected any more once refuted, and believed again when one is read", () => {
    const { evidence } = learn({
      state: stateWith(step),
      usage: usageOf(50, 0, { "5m": 6000 }),
    }).state;
    const doubting = { ...stateWith(step), evidence };
    const again = learn({ state: doubting, usage: usageOf(50, 3000, { "5m": 3000 }) });
    expect(again.verdict).toEqual({
      kind: "read more",
      expectedTokens: 0,
      reportedTokens: 3000,
      promise: "steps last",
    });
    expect(again.state.evidence["steps last"]).toEqual({ held: 1, broken: 1 });
  });
});

describe("the accounts of a session", () => {
  test("are kept where a provider reports cache usage and has two lifetimes", () => {
    const usage = usageOf(50, 0, { "5m": 6000 });
    expect(learn({ usage, reportsCache: false }).state.accounts).toBeUndefined();
    expect(learn({ usage, model: olderGpt }).state.accounts).toBeUndefined();
    expect(learn({ usage }).state.accounts?.paid).toEqual({
      ours: 7550,
      "short tail": 7550,
      "long tail": 12_050,
      plain: 6050,
    });
  });
});
