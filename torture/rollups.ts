// Kills processes while they write calls, sum them up, price them again and delete sessions, on both databases. What is stored then
// equals a recomputation.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { startPostgres, type PostgresServer } from "../harness/postgres.ts";
import { createRandom, type Random } from "../harness/random-message.ts";
import {
  atLeast,
  chosenStores,
  exactly,
  wholeNumber,
  type Experiment,
  type StoreKind,
} from "../harness/report.ts";
import { startWorkerProcess } from "../harness/worker-process.ts";
import { analyses } from "../src/analytics/analyses.ts";
import { analysisNames } from "../src/analytics/analysis-names.ts";
import { askLedger } from "../src/analytics/ask-ledger.ts";
import { builtInCatalogue } from "../src/core/models/catalogue.ts";
import { createLedger } from "../src/edge/stores/ledger/create-ledger.ts";
import { openDatabase } from "../src/edge/stores/open-ledger.ts";
import type { Database } from "../src/edge/stores/sql/database.ts";
import { roles, type WorkerEvent, type WorkerTask } from "./rollups/work.ts";

interface Counts {
  kills: number;
  done: number;
  problems: number;
  wrongSums: number;
  answers: number;
  wrongAnswers: number;
}

export const experiment: Experiment = {
  summary: "processes are killed while they write, sum up, reprice and delete: sums stay right",
  options: {
    kills: "how many processes are killed, 200 by default",
    seed: "where to start, 1 by default",
    store: "sqlite or postgres only; both by default",
  },
  async run(settings) {
    const kills = wholeNumber(settings, "kills", 200);
    const seed = wholeNumber(settings, "seed", 1);
    const stores = chosenStores(settings);
    const folder = mkdtempSync(join(tmpdir(), "strata-torture-"));
    const server = stores.includes("postgres") ? await startPostgres({ fsync: false }) : null;
    const counts = newCounts();
    try {
      for (const [index, store] of stores.entries()) {
        const until = counts.kills + Math.ceil((kills - counts.kills) / (stores.length - index));
        const random = createRandom(seed + index);
        await torture({ store, until, random, folder, server, counts }, settings.progress);
      }
    } finally {
      await server?.stop();
      rmSync(folder, { recursive: true, force: true });
    }
    const { kills: killed, done, answers } = counts;
    return {
      figures: {
        kills: killed,
        "finished pieces of work": done,
        "answers compared": answers,
        seed,
      },
      checks: [
        atLeast("processes killed", killed, kills),
        exactly("problems of processes", counts.problems, 0),
        exactly("stored sums that differ from their rows", counts.wrongSums, 0),
        exactly("answers that differ from a recomputation", counts.wrongAnswers, 0),
      ],
    };
  },
};

function newCounts(): Counts {
  return { kills: 0, done: 0, problems: 0, wrongSums: 0, answers: 0, wrongAnswers: 0 };
}

interface Torture {
  readonly store: StoreKind;
  /** Stops after so many kills in all. */
  readonly until: number;
  readonly random: Random;
  readonly folder: string;
  readonly server: PostgresServer | null;
  readonly counts: Counts;
}

const roundsPerStore = 10;
const killAfterMsMax = 700;

async function torture(
  { store, until, random, folder, server, counts }: Torture,
  progress: (line: string) => void,
): Promise<void> {
  const open = async (round: number): Promise<string> =>
    server === null || store === "sqlite"
      ? join(folder, `ledger-${round}.db`)
      : server.createDatabase();
  let where = await open(0);
  for (let round = 0; counts.kills < until; round += 1) {
    if (round > 0 && round % roundsPerStore === 0) where = await open(round);
    const endMs = Date.now();
    await (await createLedger(await openDatabase(where))).close();
    const wanted = Math.min(roles.length, until - counts.kills);
    await killAll({ where, random, endMs, wanted, counts });
    await compare(where, random, endMs, counts);
    progress(`${store}: ${counts.kills} kills, ${counts.done} done, ${counts.problems} problems`);
  }
}

interface Killing {
  readonly where: string;
  readonly random: Random;
  readonly endMs: number;
  readonly wanted: number;
  readonly counts: Counts;
}

/** One process of each role at once, each killed at a moment of its own. */
async function killAll({ where, random, endMs, wanted, counts }: Killing): Promise<void> {
  const running = roles.slice(0, wanted).map((role) => {
    const task: WorkerTask = { where, role, endMs, seed: Math.floor(random() * 2 ** 31) };
    const worker = startWorkerProcess<WorkerEvent>({
      program: new URL("rollups/worker.ts", import.meta.url),
      name: role,
      task,
      onEvent: (event) => {
        if (event.at === "done") counts.done += 1;
        if (event.at === "problem") {
          counts.problems += 1;
          process.stderr.write(`${role}: ${event.message}\n`);
        }
      },
    });
    return { worker, killAfterMs: random() * killAfterMsMax };
  });
  await Promise.all(
    running.map(async ({ worker, killAfterMs }) => {
      await worker.ready;
      await wait(killAfterMs);
      if (await worker.kill()) counts.kills += 1;
    }),
  );
}

/** As the kills left it, and after everything was caught up. */
async function compare(
  where: string,
  random: Random,
  endMs: number,
  counts: Counts,
): Promise<void> {
  const database = await openDatabase(where);
  const ledger = await createLedger(database);
  try {
    for (const isCaughtUp of [false, true]) {
      if (isCaughtUp) await ledger.catchUp();
      for await (const problem of ledger.check()) {
        counts.wrongSums += 1;
        process.stderr.write(`${problem}\n`);
      }
      await compareAnswers(database, random, endMs, counts);
    }
  } finally {
    await ledger.close();
  }
}

async function compareAnswers(
  database: Database,
  random: Random,
  endMs: number,
  counts: Counts,
): Promise<void> {
  const world = { nowMs: endMs, catalogue: builtInCatalogue };
  for (const name of analysisNames) {
    const analysis = analyses[name];
    const groupBy = analysis.groupBys[Math.floor(random() * analysis.groupBys.length)] ?? "none";
    const fromMs = endMs - 1000 - Math.floor(random() * 200_000_000);
    const toMs = fromMs + 1000 + Math.floor(random() * (endMs - fromMs));
    const query = {
      groupBy,
      from: new Date(fromMs).toISOString(),
      to: new Date(toMs).toISOString(),
    };
    const stored = await askLedger(database, analysis, query, world);
    const recomputed = await askLedger(database, analysis, query, { ...world, fromRawRows: true });
    counts.answers += 1;
    if (JSON.stringify(stored) === JSON.stringify(recomputed)) continue;
    counts.wrongAnswers += 1;
    process.stderr.write(`${name} by ${groupBy} from ${query.from} to ${query.to} differs\n`);
  }
}
