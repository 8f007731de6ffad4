// Goal: every question has one answer, whatever the ledger is kept in. Method: a scene added up by hand, on both stores.
import { describe, expect, test } from "vitest";
import type { AnalysisName } from "../../src/analytics/analysis-names.ts";
import type { AnalyticsQuery } from "../../src/analytics/analysis.ts";
import type { Database } from "../../src/edge/stores/sql/database.ts";
import type { TestStore } from "../ledger/stores.ts";
import { call, newTurn, openSession, startMs } from "../ledger/test-kit.ts";
import { armsContract } from "./arms.ts";
import { causesContract } from "./causes-contract.ts";
import { ask, everyQuestion } from "./every-question.ts";
import { writeScene } from "./scene.ts";
import { gatewayWarmCallsContract, warmCallsContract } from "./warm-calls.ts";

export function analyticsContract(store: TestStore): void {
  const open = async (): Promise<Database> => {
    const { ledger, database } = await store.open();
    await writeScene(ledger);
    return database;
  };
  const dataOf = async (
    name: AnalysisName,
    query: AnalyticsQuery = {},
  ): Promise<readonly object[]> => (await ask(await open(), name, query)).data;

  warmCallsContract(store);
  gatewayWarmCallsContract(store);
  armsContract(store);

  test("a window may begin at the beginning of all times", async () => {
    const narrow = await dataOf("cache_effectiveness");
    expect(await dataOf("cache_effectiveness", { from: "0000-01-01" })).toEqual(narrow);
  });

  describe("cache_effectiveness", () => {
    test("is tokens per bucket and their shares, per model (D-11)", async () => {
      expect(await dataOf("cache_effectiveness")).toEqual([
        {
          model: "claude-sonnet-4-6",
          uncached_input_tokens: 50,
          cached_input_tokens: 2500,
          cache_creation_tokens: 2250,
          hit_rate: 2500 / 4800,
          cache_write_share: 2250 / 4800,
          coverage: 4750 / 4800,
          // 1200 before the compaction; after it 750, of which 400 were there.
          distinct_tokens: 1550,
          rewrite_factor: 2250 / 1550,
          call_count: 5,
        },
        {
          model: "claude-haiku-4-5",
          uncached_input_tokens: 100,
          cached_input_tokens: 0,
          cache_creation_tokens: 1000,
          hit_rate: 0,
          cache_write_share: 1000 / 1100,
          coverage: 1000 / 1100,
          distinct_tokens: 1000,
          rewrite_factor: 1,
          call_count: 2,
        },
        {
          model: "garage-1",
          uncached_input_tokens: 10,
          cached_input_tokens: 50,
          cache_creation_tokens: 0,
          hit_rate: 50 / 60,
          cache_write_share: 0,
          coverage: 50 / 60,
          distinct_tokens: 0,
          rewrite_factor: null,
          call_count: 1,
        },
      ]);
    });

    test("has no shares where nothing was sent", async () => {
      const [row] = await dataOf("cache_effectiveness", { from: iso(400), to: iso(401) });
      expect(row).toMatchObject({
        call_count: 1,
        hit_rate: null,
        cache_write_share: null,
        rewrite_factor: null,
      });
    });

    test("counts as distinct what grew within the window", async () => {
      const query = { from: iso(20), to: iso(150), groupBy: "session" };
      expect(await dataOf("cache_effectiveness", query)).toMatchObject([
        { session: "a", cache_creation_tokens: 200, distinct_tokens: 200, rewrite_factor: 1 },
      ]);
    });
  });

  describe("cost", () => {
    test("is of calls, of those that came to nothing, and of summaries", async () => {
      expect(await dataOf("cost", { groupBy: "none" })).toEqual([
        {
          call_count: 8,
          uncached_input_tokens: 160,
          cached_input_tokens: 2550,
          cache_creation_tokens: 3250,
          output_tokens: 140,
          hit_rate: 2550 / 5960,
          cost_usd: "0.012988",
          failed_cost_usd: "0.000000",
          summary_cost_usd: "0.000500",
          warm_cost_usd: "0.000000",
          warm_call_count: 0,
          summary_count: 1,
          summary_input_tokens: 900,
          summary_output_tokens: 60,
          unpriced_call_count: 1,
        },
      ]);
    });

    test.each([
      [
        "model",
        { "claude-sonnet-4-6": "0.010838", "claude-haiku-4-5": "0.002150", "garage-1": "0.000000" },
      ],
      ["provider", { anthropic: "0.012988", garage: "0.000000" }],
      ["session", { a: "0.011338", w: "0.001650", x: "0.000000" }],
      ["parent_session", { null: "0.011338", a: "0.001650" }],
      ["is_worker", { false: "0.011338", true: "0.001650" }],
      ["agent", { coder: "0.012988", tinker: "0.000000" }],
      ["day", { "2026-11-16": "0.012988" }],
      ["hour", { "2026-11-16T00:00Z": "0.009845", "2026-11-16T01:00Z": "0.003143" }],
    ])("is told by %s", async (groupBy, expected) => {
      const rows = await dataOf("cost", { groupBy });
      const costs = rows.map((row) => {
        const fields = new Map<string, unknown>(Object.entries(row));
        return [String(fields.get(groupBy)), fields.get("cost_usd")];
      });
      expect(Object.fromEntries(costs)).toEqual(expected);
    });

    test("sums up more money than a number or an integer of the database holds", async () => {
      const { ledger, database, expectDamage } = await store.open();
      expectDamage();
      await writeScene(ledger);
      await database.query(
        "UPDATE calls SET cost_pico_usd = 9000000000000000001 WHERE session_id = 'a'",
      );
      const { data } = await ask(database, "cost", { groupBy: "session", limit: "1" });
      expect(data).toMatchObject([{ session: "a", cost_usd: "45000000.000500" }]);
    });
  });

  describe("savings", () => {
    test("over no cache may be below zero, and leave out attempts that came to nothing", async () => {
      const rows = await dataOf("savings");
      expect(rows).toMatchObject([
        {
          model: "claude-sonnet-4-6",
          call_count: 5,
          no_cache: {
            cost_usd: "0.015900",
            actual_cost_usd: "0.010838",
            saved_usd: "0.005063",
            compared_call_count: 5,
            unpriced_call_count: 0,
            is_partial: false,
          },
          baseline: null,
        },
        {
          model: "garage-1",
          no_cache: {
            saved_usd: "0.000000",
            saved_share: null,
            unpriced_call_count: 1,
            is_partial: true,
            pricing_version: null,
          },
        },
        {
          model: "claude-haiku-4-5",
          call_count: 2,
          no_cache: {
            cost_usd: "0.001200",
            actual_cost_usd: "0.001450",
            saved_usd: "-0.000250",
            compared_call_count: 1,
          },
        },
      ]);
    });

    test("over a baseline are the same tokens at its prices, stamped and partial (CF-H)", async () => {
      const [row] = await dataOf("savings", { groupBy: "none", baseline: "claude-haiku-4-5" });
      // A third of Sonnet's prices; Haiku's own call is even; the unknown model's cost is not known.
      expect(row).toMatchObject({
        call_count: 8,
        baseline: {
          model: "claude-haiku-4-5",
          cost_usd: "0.005063",
          actual_cost_usd: "0.012288",
          saved_usd: "-0.007225",
          compared_call_count: 6,
          unpriced_call_count: 1,
          is_partial: true,
        },
      });
      expect(JSON.stringify(row)).toMatch(/"pricing_version":"2026-\d\d-\d\d"/);
    });

    test("names models of which nothing is known", async () => {
      const { notes } = await ask(await open(), "savings");
      expect(notes).toEqual([
        "unknown models: garage-1; their calls are not compared without a cache",
      ]);
    });
  });

  test("sessions are told with who they are and what they did", async () => {
    const answer = await ask(await open(), "sessions", { limit: "2" });
    expect(answer.left_out_count).toBe(1);
    expect(answer.data).toMatchObject([
      {
        session: "a",
        agent: "coder",
        turn_count: 4,
        call_count: 5,
        cost_usd: "0.011338",
        summary_cost_usd: "0.000500",
        warm_cost_usd: "0.000000",
        first_call_at: "2026-11-16T00:00:00.010Z",
      },
      {
        session: "w",
        role: "worker",
        parent_session: "a",
        turn_count: 2,
        call_count: 2,
        cost_usd: "0.001650",
      },
    ]);
  });

  describe("turns", () => {
    test("are the latest first, with how they ended; folds are among them", async () => {
      const { data, left_out_count } = await ask(await open(), "turns", { limit: "5" });
      expect(left_out_count).toBe(3);
      expect(data).toMatchObject([
        {
          turn: "a4",
          status: "completed",
          in_flight: false,
          call_count: 1,
          cost_usd: "0.003143",
          duration_ms: 2000,
        },
        { turn: "x1", session: "x", cost_usd: "0.000000" },
        { turn: "w2", session: "w", cost_usd: "0.001650" },
        { turn: "w1", session: "w", status: "failed", end_reason: "rate_limit", hit_rate: null },
        { turn: "a3" },
      ]);
    });

    test.each([
      ["cost_usd", ["a1", "a4", "w2"]],
      ["call_count:asc", ["f1", "a2", "a3"]],
      ["group", ["a1", "a2", "a3"]],
    ])("are ordered by %s", async (order, expected) => {
      const data = await dataOf("turns", { order, limit: "3" });
      expect(data.map((row) => ("turn" in row ? row.turn : null))).toEqual(expected);
    });

    test.each(["cost_usd", "call_count", "cost_usd:asc", "duration_ms"])(
      "by %s, those without a call are there, too",
      async (order) => {
        const { ledger, database } = await store.open();
        await openSession(ledger, "b");
        const turn = await ledger.openTurn(newTurn("b", "b1", null));
        await turn.append(call("b1", 1));
        await turn.close({ status: "completed", endMs: startMs + 10 });
        const left = await ledger.openTurn(newTurn("b", "b2", "b1"));
        await left.release();
        const { data, left_out_count } = await ask(database, "turns", { order });
        const turns = data.map((row) => ("turn" in row ? row.turn : null));
        expect(turns).toEqual(order === "cost_usd:asc" ? ["b2", "b1"] : ["b1", "b2"]);
        expect(left_out_count).toBe(0);
        expect((await ask(database, "turns", { order, limit: "1" })).left_out_count).toBe(1);
      },
    );

    test("that ended before they began took no time, and neither did their calls", async () => {
      const { ledger, database } = await store.open();
      await openSession(ledger, "b");
      const turn = await ledger.openTurn(newTurn("b", "b1", null));
      await turn.append({ ...call("b1", 1), endMs: startMs - 5000 });
      await turn.close({ status: "completed", endMs: startMs - 5000 });
      const { data } = await ask(database, "turns", { turn: "b1" });
      expect(data).toMatchObject([{ duration_ms: 0, calls: [{ latency_ms: 0 }] }]);
      const reliable = await ask(database, "reliability", { groupBy: "none" });
      expect(reliable.data).toMatchObject([{ latency_ms_p50: 0, latency_ms_p95: 0 }]);
    });

    test("one is told call by call, in the window of its own time", async () => {
      const { data, window } = await ask(await open(), "turns", { turn: "w2", from: "1h" });
      expect(window).toEqual({
        start: "2026-11-16T00:00:00.500Z",
        end: "2026-11-16T00:00:02.500Z",
      });
      expect(data).toMatchObject([
        {
          turn: "w2",
          calls: [
            {
              number: 1,
              status: "complete",
              latency_ms: 1500,
              cost_usd: "0.001650",
              discarded_count: 1,
            },
          ],
        },
      ]);
    });

    test("one that runs just now is in flight, one that was left is not", async () => {
      const { ledger, database, reopen } = await store.open();
      await openSession(ledger, "b");
      const node = await reopen({ clock: "database" });
      const turn = await node.openTurn(newTurn("b", "b1", null));
      const inFlight = async (): Promise<readonly object[]> =>
        (await ask(database, "turns", { turn: "b1" })).data;
      expect(await inFlight()).toMatchObject([
        { session: "b", status: "pending", in_flight: true, completed_at: null, calls: [] },
      ]);
      await turn.release();
      expect(await inFlight()).toMatchObject([{ in_flight: false }]);
    });
  });

  test("reliability counts what came to nothing, and why", async () => {
    const rows = await dataOf("reliability", { order: "failure_rate" });
    expect(rows).toMatchObject([
      {
        model: "claude-haiku-4-5",
        call_count: 2,
        failed_call_count: 1,
        failure_rate: 0.5,
        failures: { "rate-limited": 1 },
        latency_ms_p50: 1500,
        turn_count: 2,
        failed_turn_count: 1,
        open_turn_count: 0,
      },
      { model: "claude-sonnet-4-6", failure_rate: 0, failures: {}, turn_count: 4 },
      { model: "garage-1", failure_rate: 0 },
    ]);
  });

  test("routing tells models and says that nobody recorded who chose them", async () => {
    const { data, notes } = await ask(await open(), "routing");
    expect(data).toEqual([
      { model: "claude-sonnet-4-6", turn_count: 4, switched_turn_count: 0, decided_by: {} },
      { model: "claude-haiku-4-5", turn_count: 2, switched_turn_count: 0, decided_by: {} },
      { model: "garage-1", turn_count: 1, switched_turn_count: 0, decided_by: {} },
    ]);
    expect(notes.join()).toContain("route.decided");
  });

  test("skills are told with their loads and the searches that found them", async () => {
    expect(await dataOf("skills")).toEqual([
      {
        skill: "git",
        load_count: 1,
        load_reasons: { on_demand: 1 },
        loaded_tokens: 300,
        session_count: 1,
        search_count: 1,
        preload_count: 0,
        asked_preload_count: 0,
        asked_preload_share: null,
        last_loaded_at: "2026-11-16T00:00:00.702Z",
      },
      {
        skill: "review",
        load_count: 0,
        load_reasons: {},
        loaded_tokens: 0,
        session_count: 1,
        search_count: 1,
        preload_count: 0,
        asked_preload_count: 0,
        asked_preload_share: null,
        last_loaded_at: null,
      },
    ]);
  });

  test("compactions are told by trigger, with attempts that came to nothing (N-24)", async () => {
    expect(await dataOf("compactions")).toMatchObject([
      {
        trigger: "manual",
        compaction_count: 1,
        tokens_before: 1000,
        tokens_after: 300,
        kept_share: 0.3,
        cost_usd: "0.000500",
        duration_ms_mean: 40,
        outcomes: { failed: 1 },
        failed_cost_usd: "0.000200",
      },
      {
        trigger: "context_limit",
        compaction_count: 0,
        kept_share: null,
        outcomes: { too_soon: 1 },
      },
    ]);
  });

  causesContract(store, dataOf, open);
  everyQuestion(open);
}

function iso(offsetMs: number): string {
  return new Date(startMs + offsetMs).toISOString();
}
