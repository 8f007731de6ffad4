// What an answer says beyond sums: where prompts broke, which tiers were read, what has no price, and the prompts themselves.
import { expect, test } from "vitest";
import { runSimulated } from "../../harness/simulated-session.ts";
import { findPolicy } from "../../src/core/cache/policies.ts";
import { builtInCatalogue } from "../../src/core/models/catalogue.ts";
import { resolveModel } from "../../src/core/models/resolve-model.ts";
import { cheapCounter } from "../../src/core/tokens/cheap-counter.ts";
import { anthropicMessages } from "../../src/core/wire/anthropic-messages/index.ts";
import { readLedger } from "../../src/replay/ledger/read-ledger.ts";
import type { AnalysisName } from "../../src/analytics/analysis-names.ts";
import type { AnalyticsQuery } from "../../src/analytics/analysis.ts";
import type { Database } from "../../src/edge/stores/sql/database.ts";
import type { TestStore } from "../ledger/stores.ts";
import { ask } from "./every-question.ts";

type DataOf = (name: AnalysisName, query?: AnalyticsQuery) => Promise<readonly object[]>;

export function causesContract(
  store: TestStore,
  dataOf: DataOf,
  open: () => Promise<Database>,
): void {
  test("misses are told by cause, with what has no price counted", async () => {
    expect(await dataOf("misses")).toEqual([
      {
        cause: "lifetime expired",
        miss_count: 2,
        session_count: 2,
        expected_read_tokens: 790,
        reported_read_tokens: 50,
        lost_tokens: 740,
        lost_cost_usd: "0.001890",
        unpriced_miss_count: 1,
        causes: { "lifetime expired": 2 },
        sections: { "user message 4": 1 },
        costliest_cause: "lifetime expired",
        costliest_detail: null,
        costliest_block: null,
        costliest_byte: null,
        costliest_session: "a",
        costliest_turn: "a4",
        provider_agreed_count: 1,
        provider_differed_count: 0,
      },
    ]);
    expect(await dataOf("misses", { groupBy: "model", order: "group" })).toMatchObject([
      { model: "claude-sonnet-4-6", miss_count: 1 },
      { model: "garage-1", miss_count: 1 },
    ]);
  });

  test("misses are told by section and by tier, with block, byte and detail", async () => {
    const place = {
      miss_count: 1,
      causes: { "lifetime expired": 1 },
      costliest_detail: "after 12 min",
      costliest_block: "user message 4 (T3, block 8)",
      costliest_byte: 12,
      costliest_turn: "x1",
    };
    expect(await dataOf("misses", { groupBy: "section" })).toMatchObject([
      { section: null, miss_count: 1, lost_cost_usd: "0.001890" },
      { section: "user message 4", ...place },
    ]);
    expect(await dataOf("misses", { groupBy: "tier", order: "group" })).toMatchObject([
      { tier: null },
      { tier: "T3", ...place },
    ]);
    expect(await dataOf("misses", { groupBy: "turn" })).toMatchObject([
      { turn: "a4", lost_tokens: 700 },
      { turn: "x1", lost_tokens: 40 },
    ]);
    expect(await dataOf("misses", { groupBy: "day" })).toMatchObject([
      { day: expect.stringMatching(/^2026-\d\d-\d\d$/), miss_count: 2, costliest_turn: "a4" },
    ]);
  });

  test("a bill is attributed to the tiers of its prompt, from its start (C-14)", async () => {
    const answer = await ask(await open(), "cache_effectiveness", {
      groupBy: "tier",
      order: "group",
    });
    expect(answer.data).toMatchObject([
      {
        tier: "T0",
        cache_creation_tokens: 100,
        uncached_input_tokens: 0,
        coverage: 1,
        call_count: 1,
      },
      { tier: "T3", cache_creation_tokens: 650, cached_input_tokens: 0, coverage: 1, hit_rate: 0 },
      { tier: "T5", cache_creation_tokens: 0, uncached_input_tokens: 10, coverage: 0 },
    ]);
    expect(answer.notes).toEqual(["6 calls were recorded without their tiers"]);
  });

  test("a session and a turn count their calls without a price", async () => {
    expect(unpricedIn(await dataOf("sessions"))).toEqual(["x"]);
    expect(unpricedIn(await dataOf("turns"))).toEqual(["x1"]);
  });

  test("a session of the engine is read as a recording, with its prompts to the byte", async () => {
    const { ledger, database } = await store.open();
    await runSimulated({
      setup: {
        id: "own",
        model: resolveModel("claude-sonnet-4-6").facts,
        protocol: anthropicMessages,
        policy: findPolicy("tail-5m"),
        context: { role: "unified", workspaceRules: "Answer briefly. ".repeat(900) },
        counter: cheapCounter,
        options: { outputTokensMax: 100, stream: true },
      },
      turns: [
        { afterMs: 0, text: "One.", replies: [{ text: "First." }] },
        { afterMs: 1000, text: "Two.", replies: [{ text: "Second." }] },
      ],
      toolResult: () => "",
      ledger,
    });
    const counter = cheapCounter;
    const reading = { name: "here", catalogue: builtInCatalogue, counter, excerpts: false };
    const read: unknown[] = [];
    for await (const each of readLedger({ ledger, database }, reading)) {
      read.push(
        each.type === "request" ? [each.request.keep, each.request.found?.evidence] : each.type,
      );
    }
    expect(read).toEqual(["session", [0, "recorded"], [2, "recorded"]]);
  });
}

/** The names of rows with one call without a price. */
function unpricedIn(rows: readonly object[]): readonly unknown[] {
  return rows.flatMap((row) =>
    "unpriced_call_count" in row && row.unpriced_call_count === 1 ? [Object.values(row)[0]] : [],
  );
}
