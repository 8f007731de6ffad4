import { describe, expect, test } from "vitest";
import type { PlannedCompaction } from "./planned-compaction.ts";
import { askToCompact, renderPlan } from "./render-compaction.ts";
import { renderCompaction, renderRecall, type ShownCompaction } from "./render-compacted.ts";

const cents = 10_000_000_000n;

const planned: PlannedCompaction = {
  kind: "compaction",
  sessionId: "build",
  model: "claude-x",
  writer: "claude-x",
  turnsCompacted: 12,
  turnsKept: 3,
  messagesCompacted: 140,
  messagesKept: 22,
  firstKeptTurnId: "turn-13",
  isTurnCut: false,
  compactedTokens: 81_000,
  keptTokens: 19_500,
  tailNotice: null,
  foundationTokens: 9_000,
  notesTokens: 3_500,
  tokensBefore: 109_500,
  tokensAfter: 32_000,
  money: {
    before: { cachedPicoUsd: 3n * cents, uncachedPicoUsd: 41n * cents },
    after: { cachedPicoUsd: cents, uncachedPicoUsd: 12n * cents },
    summaryPicoUsd: 6n * cents,
    rewritePicoUsd: 8n * cents,
    costNowPicoUsd: 14n * cents,
    savingPerCallPicoUsd: 2n * cents,
  },
  breakEvenCalls: 7,
  breakEvenTurns: 2,
  callsLeft: 50,
  gainFactor: 7.14,
};

/** What a line says; nothing where there is no such line. */
function lineOf(name: string, more: Partial<PlannedCompaction> = {}): string | undefined {
  const lines = renderPlan({ ...planned, ...more }).split("\n");
  return lines
    .find((line) => line.startsWith(name))
    ?.slice(name.length)
    .trim();
}

describe("a planned compaction", () => {
  test("is shown in full", () => {
    expect(renderPlan(planned)).toBe(
      [
        "session     build, claude-x",
        "compacts    12 turns: 140 messages, 81.0k tokens",
        "into        a summary by claude-x and an index of exact names, about 3.5k tokens",
        "keeps       3 turns from turn-13 on: 22 messages, 19.5k tokens; tools and system text, 9.0k",
        "prompt      109.5k → about 32.0k tokens per call",
        "price       $0.0300 → $0.0100 per call from the cache, $0.4100 → $0.1200 without it",
        "costs now   $0.1400: $0.0600 for the summary, $0.0800 because the next call is not in the cache",
        "break-even  after 7 calls (about 2 turns), each $0.0200 cheaper; 50 calls more would save the cost 7.1 times",
        "",
      ].join("\n"),
    );
    expect(askToCompact(planned)).toBe("Compact 12 turns of build with a summary by claude-x?");
  });

  test("that cuts a turn says so", () => {
    const cut = { ...planned, turnsCompacted: 0, isTurnCut: true, writer: null };
    expect(lineOf("compacts", cut)).toBe("the older part of a turn: 140 messages, 81.0k tokens");
    expect(lineOf("compacts", { turnsCompacted: 1, isTurnCut: true })).toBe(
      "1 turn and the older part of another: 140 messages, 81.0k tokens",
    );
    expect(askToCompact(cut)).toBe("Compact the older part of a turn of build without a model?");
  });

  test("of a cold cache costs nothing and pays immediately", () => {
    const { money } = planned;
    const cold = {
      breakEvenCalls: 0,
      gainFactor: null,
      money: money && { ...money, rewritePicoUsd: -9n * cents, costNowPicoUsd: -3n * cents },
    };
    expect(lineOf("costs now", cold)).toBe(
      "nothing: $0.0600 for the summary, the next call is $0.0900 cheaper immediately",
    );
    expect(lineOf("break-even", cold)).toBe("immediately");
  });

  test("that will not pay says that, too", () => {
    expect(lineOf("break-even", { breakEvenCalls: null })).toBe(
      "never: later calls are not cheaper",
    );
    expect(lineOf("break-even", { gainFactor: 0.25, callsLeft: 2 })).toContain(
      "; 2 calls more would save 25 % of the cost",
    );
  });

  test("of a model without prices has no dollars", () => {
    expect(lineOf("price", { money: null })).toBe("not known for this model");
    expect(lineOf("costs now", { money: null })).toBe(undefined);
    expect(lineOf("break-even", { money: null })).toBe(
      "after 7 calls (about 2 turns); 50 calls more would save the cost 7.1 times",
    );
  });

  test("cannot steer the terminal by the name of a session", () => {
    expect(lineOf("session", { sessionId: "a\u001b[2Jb" })).toBe("a␛[2Jb, claude-x");
  });
});

test.each([
  ["too short", "it has 4 turns with 12.0k tokens, and the latest 20.0k are always kept."],
  [
    "no place",
    "it has 4 turns with 12.0k tokens, and no part before the latest 20.0k can be cut off.",
  ],
  [
    "no gain",
    "25.0k tokens per call would become about 26.0k. It has 4 turns with 12.0k tokens, and the latest 20.0k are always kept.",
  ],
] as const)("nothing to compact because of %s names the numbers", (why, text) => {
  const sizes = { turns: 4, historyTokens: 12_000, keepTokens: 20_000, tailNotice: null };
  const tokens = { tokensBefore: 25_000, tokensAfter: 26_000 };
  expect(renderPlan({ kind: "nothing", sessionId: "build", why, ...sizes, ...tokens })).toBe(
    `Nothing to compact in build: ${text}\n`,
  );
});

const compaction: ShownCompaction = {
  turnId: "compaction-1",
  compactedMs: Date.UTC(2026, 10, 16, 9),
  summary: "## Task\nBuild it.\n\n## Next step\n\u001b[2JTest it.",
  summarizedThroughTurnId: "turn-12",
  firstKeptTurnId: "turn-13",
  firstKeptIndex: 0,
  turnsSummarized: 12,
  kind: "summary",
  trigger: "manual",
  model: "claude-x",
  provider: "garage",
  tokensBefore: 109_500,
  tokensAfter: 31_000,
  summaryTokens: 2_500,
  inputTokens: 110_000,
  outputTokens: 900,
  costPicoUsd: 6n * cents,
  durationMs: 14_000,
  headTurnCount: 15,
  tailStartIndex: 140,
  indexJson: JSON.stringify({
    version: 1,
    text: "src/a.ts\nsrc/b.ts",
    tokens: 12,
    leftOut: 1,
    entries: [
      ["src/a.ts", "path", 1, 1, 0, 0, 0],
      ["src/b.ts", "path", 1, 1, 0, 0, 0],
    ],
    resting: [],
  }),
  metadataJson: null,
};

describe("a compaction", () => {
  test("is shown with its summary and its index, and cannot steer the terminal", () => {
    expect(renderCompaction(compaction)).toBe(
      [
        "compaction  compaction-1",
        "when        2026-11-16 09:00 UTC, manual, in 14 s",
        "kind        summary by claude-x of garage",
        "turns       12 of 15 compacted, through turn-12; kept from turn-13 on",
        "tokens      109.5k → 31.0k, 2.5k of them for the notes",
        "cost        $0.0600, 110.0k tokens in and 900 out",
        "index       2 exact names in 12 tokens; 1 name left out",
        "",
        "summary",
        "  ## Task",
        "  Build it.",
        "",
        "  ## Next step",
        "  ␛[2JTest it.",
        "",
        "index",
        "  src/a.ts",
        "  src/b.ts",
        "",
      ].join("\n"),
    );
  });

  test("of a model without a price is not free", () => {
    const metadataJson = JSON.stringify({ callsWithoutCost: 1 });
    expect(renderCompaction({ ...compaction, costPicoUsd: 0n, metadataJson })).toContain(
      "cost        not known: the model has no price, 110.0k tokens in and 900 out\n",
    );
  });

  test("without a model or an index names neither", () => {
    const shown = renderCompaction({
      ...compaction,
      kind: "sliding_window",
      inputTokens: 0,
      outputTokens: 0,
      costPicoUsd: 0n,
      firstKeptTurnId: null,
      indexJson: null,
    });
    expect(shown).toContain("kind        outline, made without a model\n");
    expect(shown).toContain("through turn-12; none kept\n");
    expect(shown).toContain("cost        $0.0000\nindex       none\n\nnotes\n");
  });

  test("deletes nothing, and the ways back are named", () => {
    const recall = { sessionId: "build", compactionId: "compaction-1", headTurnId: "turn-15" };
    expect(renderRecall({ ...recall, canRecall: true })).toBe(
      [
        "Nothing is deleted; the agent can find it with history_search and history_read.",
        "  strata sessions show build --compaction compaction-1  # what the model reads instead",
        "  strata sessions show build --messages --whole         # all messages",
        "  strata sessions fork build NEW --turn turn-15         # continue without the compaction",
        "",
      ].join("\n"),
    );
    expect(renderRecall({ ...recall, canRecall: false })).toContain(
      "the agent does not have the tools history_search and history_read.",
    );
  });
});
