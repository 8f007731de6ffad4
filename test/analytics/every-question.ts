// What holds for every question: its envelope, its groups and orders, and what it is refused for.
import { describe, expect, test } from "vitest";
import { analyses } from "../../src/analytics/analyses.ts";
import { analysisNames, type AnalysisName } from "../../src/analytics/analysis-names.ts";
import type { AnalyticsQuery } from "../../src/analytics/analysis.ts";
import { analyticsCodeOf } from "../../src/analytics/analytics-error.ts";
import { askLedger, type Answer } from "../../src/analytics/ask-ledger.ts";
import { builtInCatalogue } from "../../src/core/models/catalogue.ts";
import { catchUp } from "../../src/edge/stores/rollups/catch-up.ts";
import type { Database } from "../../src/edge/stores/sql/database.ts";
import { nowMs } from "./scene.ts";

/** A day after the scene. Stored sums change no answer: it is given from raw rows, and again from sums where there are some. */
export async function ask(
  database: Database,
  name: AnalysisName,
  query: AnalyticsQuery = {},
): Promise<Answer> {
  const world = { nowMs, catalogue: builtInCatalogue };
  const analysis = analyses[name];
  const fromRaw = await askLedger(database, analysis, query, { ...world, fromRawRows: true });
  expect(await askLedger(database, analysis, query, world)).toEqual(fromRaw);
  expect((await catchUp(database, { nowMs, holder: "a test" })).isComplete).toBe(true);
  expect(await askLedger(database, analysis, query, world)).toEqual(fromRaw);
  return fromRaw;
}

export function everyQuestion(open: () => Promise<Database>): void {
  describe("every question", () => {
    test.each(analysisNames)(
      "%s is answered by an empty window with its envelope",
      async (name) => {
        const answer = await ask(await open(), name, { from: "2026-10-01", to: "2026-10-02" });
        expect(answer).toEqual({
          window: { start: "2026-10-01T00:00:00.000Z", end: "2026-10-02T00:00:00.000Z" },
          current_pricing_version: expect.stringMatching(/^2026-\d\d-\d\d$/),
          data: [],
          left_out_count: 0,
          notes: [],
        });
      },
    );

    test.each(analysisNames)("%s is answered for each of its groups and orders", async (name) => {
      const database = await open();
      const { groupBys, orders } = analyses[name];
      for (const groupBy of groupBys) {
        for (const order of orders.flatMap((each) => [each, `${each}:asc`])) {
          const { data } = await ask(database, name, { groupBy, order });
          expect(data.length).toBeGreaterThan(0);
        }
      }
    });

    test.each([
      ["invalid_time_window", "cost", { from: "2026-11-17", to: "2026-11-16" }],
      ["invalid_group_by", "cost", { groupBy: "gateway" }],
      ["invalid_group_by", "sessions", { groupBy: "model; DROP TABLE calls" }],
      ["invalid_order", "turns", { order: "cost_usd:sideways" }],
      ["invalid_limit", "cost", { limit: "1001" }],
      ["invalid_limit", "cost", { limit: "1.5" }],
      ["unknown_baseline_model", "savings", { baseline: "claude-opos-5" }],
      ["turn_not_found", "turns", { turn: "nobody" }],
    ] as const)("is refused with %s: %s %o", async (code, name, query) => {
      const refused = await ask(await open(), name, query).then(() => null, analyticsCodeOf);
      expect(refused).toBe(code);
    });
  });
}
