// How long each analytics question about a week takes, on both stores.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { quantile } from "../harness/measure.ts";
import { startPostgres } from "../harness/postgres.ts";
import {
  below,
  exactly,
  wholeNumber,
  type Check,
  type Experiment,
  type Figure,
} from "../harness/report.ts";
import { analyses } from "../src/analytics/analyses.ts";
import { analysisNames } from "../src/analytics/analysis-names.ts";
import type { Analysis, AnalyticsQuery } from "../src/analytics/analysis.ts";
import { askLedger } from "../src/analytics/ask-ledger.ts";
import { builtInCatalogue } from "../src/core/models/catalogue.ts";
import { createLedger } from "../src/edge/stores/ledger/create-ledger.ts";
import { openDatabase } from "../src/edge/stores/open-ledger.ts";
import { endMs, fillLedger } from "./analytics/fill-ledger.ts";

const p95MsMax = 500;

export const experiment: Experiment = {
  summary:
    "every question of strata stats at 10⁵ calls in one week, on SQLite and PostgreSQL (1 GB in the temporary folder)",
  options: {
    calls: "how many calls the ledger holds; 100000 by default",
    rounds: "how often each question is asked; 20 by default",
    index: "SQL to run before, for trying an index",
  },
  async run(settings) {
    const calls = wholeNumber(settings, "calls", 100_000);
    const rounds = wholeNumber(settings, "rounds", 20);
    const figures: Record<string, Figure> = {};
    const checks: Check[] = [];
    const folder = mkdtempSync(join(tmpdir(), "strata-bench-"));
    const server = await startPostgres({ fsync: false });
    try {
      const places = { sqlite: join(folder, "ledger.db"), postgres: await server.createDatabase() };
      for (const [store, where] of Object.entries(places)) {
        settings.progress(`filling ${store}`);
        const database = await openDatabase(where);
        const ledger = await createLedger(database);
        await fillLedger(database, calls, settings.progress);
        for (const sql of settings.options["index"]?.split(";") ?? []) await database.query(sql);
        if (store === "postgres") await database.query("ANALYZE");
        const [counted] = await database.query("SELECT COUNT(*) AS calls FROM calls");
        checks.push(exactly(`calls ${store}`, Number(counted?.["calls"]), calls));
        for (const { name, analysis, query } of questions()) {
          const ms = await timesOf(rounds, () => askLedger(database, analysis, query, world));
          const p95 = quantile(ms, 0.95);
          settings.progress(`${name} ${store}: ${Math.round(p95)} ms`);
          figures[`p50 ms ${name} ${store}`] = quantile(ms, 0.5);
          checks.push(below(`p95 ${name} ${store}`, p95, p95MsMax));
        }
        await ledger.close();
      }
    } finally {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    }
    return { figures, checks };
  },
};

const world = { nowMs: endMs, catalogue: builtInCatalogue };

interface Asked {
  readonly name: string;
  readonly analysis: Analysis;
  readonly query: AnalyticsQuery;
}

/** Every question without options, and variants with many rows or more work. */
function questions(): readonly Asked[] {
  const plain = analysisNames.map((name) => ({ name, analysis: analyses[name], query: {} }));
  const { cache_effectiveness, cost, savings, turns, misses } = analyses;
  return [
    ...plain,
    {
      name: "cache_effectiveness by session",
      analysis: cache_effectiveness,
      query: { groupBy: "session" },
    },
    { name: "cost by session", analysis: cost, query: { groupBy: "session" } },
    { name: "cost by is_worker", analysis: cost, query: { groupBy: "is_worker" } },
    {
      name: "savings by session",
      analysis: savings,
      query: { groupBy: "session", baseline: "claude-opus-4-6" },
    },
    { name: "turns by cost", analysis: turns, query: { order: "cost_usd" } },
    { name: "misses by session", analysis: misses, query: { groupBy: "session" } },
  ];
}

async function timesOf(rounds: number, work: () => Promise<unknown>): Promise<readonly number[]> {
  const times: number[] = [];
  for (let round = -1; round < rounds; round += 1) {
    const start = performance.now();
    await work();
    if (round >= 0) times.push(performance.now() - start);
  }
  return times;
}
