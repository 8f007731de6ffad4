// How long questions take that are answered from stored sums, what these cost the writer, and whether they equal a recomputation.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { quantile } from "../harness/measure.ts";
import { startPostgres } from "../harness/postgres.ts";
import { createRandom, type Random } from "../harness/random-message.ts";
import {
  atLeast,
  atMost,
  chosenStores,
  exactly,
  wholeNumber,
  type Check,
  type Experiment,
  type Figure,
} from "../harness/report.ts";
import { analyses } from "../src/analytics/analyses.ts";
import { analysisNames, type AnalysisName } from "../src/analytics/analysis-names.ts";
import type { AnalyticsQuery } from "../src/analytics/analysis.ts";
import { askLedger } from "../src/analytics/ask-ledger.ts";
import { builtInCatalogue } from "../src/core/models/catalogue.ts";
import { createLedger } from "../src/edge/stores/ledger/create-ledger.ts";
import { openDatabase } from "../src/edge/stores/open-ledger.ts";
import type { Database } from "../src/edge/stores/sql/database.ts";
import { endMs, fillCalls, spanMs } from "./analytics/fill-calls.ts";
import { appendRatio } from "./analytics/append-ratio.ts";
import { measureLiveReaders } from "./analytics/live-readers.ts";

const anyWindowMsMax = 50;
const lastHourMsMax = 10;
const rankingMsMax = 1000;
const appendRatioMin = 0.9;
const readers = 1000;
const readerKilobytesMax = 64;

export const experiment: Experiment = {
  summary: "every question of strata stats over three months of a fleet's calls, on both stores",
  options: {
    calls: "how many calls each ledger holds; 100000 by default (0.6 GB per million)",
    rounds: "how many random windows each question is asked for; 20 by default",
    compared: "how many random windows are compared with a recomputation; 2 by default",
    store: "sqlite or postgres only; both by default",
  },
  async run(settings) {
    const figures: Record<string, Figure> = {};
    const checks: Check[] = [];
    const stores = chosenStores(settings);
    const folder = mkdtempSync(join(tmpdir(), "strata-bench-"));
    const server = stores.includes("postgres") ? await startPostgres({ fsync: false }) : null;
    try {
      for (const store of stores) {
        const open = async (name: string): Promise<string> =>
          server === null || store === "sqlite" ? join(folder, name) : server.createDatabase();
        const bench = {
          calls: wholeNumber(settings, "calls", 100_000),
          rounds: wholeNumber(settings, "rounds", 20),
          compared: wholeNumber(settings, "compared", 2),
          progress: (line: string) => settings.progress(`${store}: ${line}`),
        };
        const measured = await measureStore(await open("ledger.db"), bench);
        const append = await appendRatio(() => open(`append-${Math.random()}.db`));
        Object.assign(figures, named(measured, store));
        checks.push(
          exactly(`calls ${store}`, measured.calls, bench.calls),
          atMost(`p95 any window ${store}`, measured.anyMs, anyWindowMsMax),
          atMost(`p95 last hour ${store}`, measured.hourMs, lastHourMsMax),
          atMost(`p95 ranking of sessions ${store}`, measured.rankingMs, rankingMsMax),
          atLeast(`append with roll-ups ${store}`, append, appendRatioMin),
          exactly(`equal to recomputation ${store}`, measured.equalShare, 1),
        );
      }
      settings.progress("readers of live events");
      const live = await measureLiveReaders(join(folder, "live.db"), readers);
      figures["sse events delivered/s"] = live.deliveredPerSecond;
      figures["sse CPU ms per 1,000 delivered"] = live.cpuMsPerThousandEvents;
      checks.push(
        atMost("sse 1,000 readers KB each", live.kilobytesPerReader, readerKilobytesMax),
        exactly("sse 1,000 readers events lost", live.lostCount, 0),
      );
    } finally {
      await server?.stop();
      rmSync(folder, { recursive: true, force: true });
    }
    return { figures, checks };
  },
};

interface Measured {
  readonly calls: number;
  readonly fillSeconds: number;
  readonly catchUpSeconds: number;
  readonly bytes: number;
  /** The worst p95 of a question. */
  readonly anyMs: number;
  readonly hourMs: number;
  readonly rankingMs: number;
  readonly slowest: string;
  readonly equalShare: number;
  /** p95 of each question over any window. */
  readonly each: Readonly<Record<string, number>>;
}

function named(measured: Measured, store: string): Readonly<Record<string, Figure>> {
  const { each } = measured;
  return {
    [`fill s ${store}`]: measured.fillSeconds,
    [`catch up s ${store}`]: measured.catchUpSeconds,
    [`bytes ${store}`]: measured.bytes,
    [`slowest ${store}`]: measured.slowest,
    ...Object.fromEntries(
      Object.entries(each).map(([name, ms]) => [`p95 ms ${name} ${store}`, ms]),
    ),
  };
}

interface Bench {
  readonly calls: number;
  readonly rounds: number;
  readonly compared: number;
  readonly progress: (line: string) => void;
}

async function measureStore(
  where: string,
  { calls, rounds, compared, progress }: Bench,
): Promise<Measured> {
  const database = await openDatabase(where);
  const ledger = await createLedger(database, { now: () => endMs });
  try {
    const fillSeconds = await secondsOf(() => fillCalls(database, calls, progress));
    const catchUpSeconds = await secondsOf(() => ledger.catchUp());
    progress(`filled in ${fillSeconds.toFixed(0)} s, caught up in ${catchUpSeconds.toFixed(0)} s`);
    const [counted] = await database.query("SELECT COUNT(*) AS calls FROM calls");
    const each: Record<string, number> = {};
    const hourly: number[] = [];
    const rankings: number[] = [];
    for (const { name, groupBy } of questions()) {
      const title = `${name} by ${groupBy}`;
      const random = createRandom(1);
      const any = await timesOf(rounds, () => ask(database, name, anyWindow(random, groupBy)));
      const p95 = quantile(any, 0.95);
      progress(`${title}: p95 ${p95.toFixed(1)} ms`);
      if (isRanking(groupBy)) rankings.push(p95);
      else each[title] = p95;
      hourly.push(
        quantile(await timesOf(rounds, () => ask(database, name, lastHour(groupBy))), 0.95),
      );
    }
    const [slowest] = Object.entries(each).toSorted(([, left], [, right]) => right - left);
    return {
      calls: Number(counted?.["calls"]),
      fillSeconds,
      catchUpSeconds,
      bytes: await database.size(),
      anyMs: slowest?.[1] ?? 0,
      hourMs: Math.max(...hourly),
      rankingMs: Math.max(...rankings),
      slowest: slowest?.[0] ?? "",
      equalShare: await compareAll(database, compared),
      each,
    };
  } finally {
    await ledger.close();
  }
}

interface Asked {
  readonly name: AnalysisName;
  readonly groupBy: string;
}

function questions(): readonly Asked[] {
  return analysisNames.flatMap((name) =>
    analyses[name].groupBys.map((groupBy) => ({ name, groupBy })),
  );
}

/** Rows of single sessions or turns, of which there are as many as fit into the window. */
function isRanking(groupBy: string): boolean {
  return groupBy === "session" || groupBy === "turn";
}

async function secondsOf(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return (performance.now() - start) / 1000;
}

async function timesOf(rounds: number, work: () => Promise<unknown>): Promise<readonly number[]> {
  const times: number[] = [];
  // The first round warms up.
  for (let round = -1; round < rounds; round += 1) {
    const start = performance.now();
    await work();
    if (round >= 0) times.push(performance.now() - start);
  }
  return times;
}

/** Any part of the three months, to the millisecond; of hours as many as an answer shows. */
function anyWindow(random: Random, groupBy: string): AnalyticsQuery {
  const [one, other] = [random() * spanMs, random() * spanMs];
  const [fromMs, toMs] = [endMs - Math.max(one, other) - 1, endMs - Math.min(one, other)];
  const startMs = groupBy === "hour" ? Math.max(fromMs, toMs - 2000 * 3_600_000) : fromMs;
  return { groupBy, from: iso(startMs), to: iso(toMs) };
}

function lastHour(groupBy: string): AnalyticsQuery {
  return { groupBy, from: iso(endMs - 3_600_000), to: iso(endMs) };
}

function iso(ms: number): string {
  return new Date(Math.floor(ms)).toISOString();
}

const world = { nowMs: endMs, catalogue: builtInCatalogue };

function ask(database: Database, name: AnalysisName, query: AnalyticsQuery): Promise<object> {
  return askLedger(database, analyses[name], query, world);
}

/** The share of answers that equal what all rows of a day or so add up to. */
async function compareAll(database: Database, windows: number): Promise<number> {
  const random = createRandom(2);
  let [equal, all] = [0, 0];
  for (const { name, groupBy } of questions()) {
    for (let window = 0; window < windows; window += 1) {
      const startMs = endMs - spanMs + random() * (spanMs - 2 * 86_400_000);
      const to = iso(startMs + random() * 2 * 86_400_000);
      const query = { groupBy, from: iso(startMs - 1), to };
      const stored = await ask(database, name, query);
      const recomputed = await askLedger(database, analyses[name], query, {
        ...world,
        fromRawRows: true,
      });
      all += 1;
      if (JSON.stringify(stored) === JSON.stringify(recomputed)) equal += 1;
    }
  }
  return equal / all;
}
