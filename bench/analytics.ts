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

/** The same machine sums every call once in the same rounds; a question may take so many times as long. */
const ratioMax = 10;

const bareSql = `SELECT model, COUNT(*) AS calls, SUM(uncached_tokens) AS uncached, SUM(read_tokens) AS read_tokens,
  SUM(output_tokens) AS output, SUM(cost_pico_usd / 1000000) AS cost FROM calls GROUP BY model`;

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
        const bareMs: number[] = [];
        for (const { name, analysis, query } of questions()) {
          const { asked, bare } = await timesOf(rounds, {
            asked: () => askLedger(database, analysis, query, world),
            bare: () => database.query(bareSql),
          });
          const p95 = quantile(asked, 0.95) / quantile(bare, 0.5);
          settings.progress(`${name} ${store}: p95 ${p95.toFixed(2)} x the bare sums`);
          figures[`p50 ms ${name} ${store}`] = quantile(asked, 0.5);
          bareMs.push(...bare);
          checks.push(below(`p95 ${name} ${store} over bare sums of all calls`, p95, ratioMax));
        }
        figures[`p50 ms bare sums of all calls ${store}`] = quantile(bareMs, 0.5);
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

/** In each round both run, one after the other, so that they see the same machine. */
async function timesOf<Name extends string>(
  rounds: number,
  work: Readonly<Record<Name, () => Promise<unknown>>>,
): Promise<Readonly<Record<Name, readonly number[]>>> {
  const names = Object.keys(work) as Name[];
  const times = Object.fromEntries(names.map((name) => [name, [] as number[]]));
  for (let round = -1; round < rounds; round += 1) {
    for (const name of names) {
      const start = performance.now();
      await work[name]();
      if (round >= 0) times[name]?.push(performance.now() - start);
    }
  }
  return times as Record<Name, number[]>;
}
