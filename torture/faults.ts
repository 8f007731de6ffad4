// Providers that fail in every way during many turns, over three protocols and on both databases. Every turn ends with
// a reply or a recorded failure, and the key does not leak.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startPostgres } from "../harness/postgres.ts";
import {
  atLeast,
  chosenStores,
  exactly,
  UsageError,
  wholeNumber,
  type Check,
  type Experiment,
} from "../harness/report.ts";
import { runFaults, type Faulted } from "./engine/faults.ts";
import { wireFaultNames } from "./engine/plant-faults.ts";

export const experiment: Experiment = {
  summary: "providers fail during turns: a reply or a clear failure on record, no key anywhere",
  options: {
    turns: "how many on each database, 1000 by default",
    rate: "share of requests with a fault, in percent, 50 by default",
    seed: "where to start, 1 by default",
    store: "sqlite or postgres only; both by default",
  },
  async run(settings) {
    const turns = wholeNumber(settings, "turns", 1000);
    const seed = wholeNumber(settings, "seed", 1);
    const rate = wholeNumber(settings, "rate", 50) / 100;
    if (rate > 1) throw new UsageError("--rate is at most 100");
    const stores = chosenStores(settings);
    const folder = mkdtempSync(join(tmpdir(), "strata-faults-"));
    const server = stores.includes("postgres") ? await startPostgres({ fsync: false }) : null;
    const runs: Faulted[] = [];
    try {
      for (const kind of stores) {
        const where =
          server === null || kind === "sqlite"
            ? join(folder, "ledger.db")
            : await server.createDatabase();
        const progress = (line: string): void => settings.progress(`${kind}: ${line}`);
        const run = await runFaults({ store: where, turns, seed, rate, progress });
        for (const problem of [...run.unclear, ...run.checked, ...run.leaks].slice(0, shownMax)) {
          progress(`PROBLEM ${problem}`);
        }
        runs.push(run);
      }
    } finally {
      await server?.stop();
      rmSync(folder, { recursive: true, force: true });
    }
    return { figures: figuresOf(runs, seed), checks: checksOf(runs, turns * stores.length) };
  },
};

const shownMax = 10;

function figuresOf(runs: readonly Faulted[], seed: number): Record<string, number> {
  return {
    seed,
    replies: sum(runs, ({ replies }) => replies),
    ...prefixed(
      "failed, ",
      runs.map(({ failures }) => failures),
    ),
    ...prefixed(
      "planted, ",
      runs.map(({ faults }) => faults),
    ),
  };
}

function prefixed(
  words: string,
  counts: readonly ReadonlyMap<string, number>[],
): Record<string, number> {
  const all = new Map<string, number>();
  for (const [name, count] of counts.flatMap((each) => [...each])) {
    all.set(`${words}${name}`, (all.get(`${words}${name}`) ?? 0) + count);
  }
  return Object.fromEntries([...all].toSorted(([left], [right]) => (left < right ? -1 : 1)));
}

function checksOf(runs: readonly Faulted[], turns: number): readonly Check[] {
  const struck = new Set(runs.flatMap(({ faults }) => [...faults.keys()]));
  return [
    atLeast(
      "turns",
      sum(runs, (run) => run.turns),
      turns,
    ),
    exactly(
      "turns that end in neither, or are otherwise on record",
      sum(runs, ({ unclear }) => unclear.length),
      0,
    ),
    exactly(
      "problems of check()",
      sum(runs, ({ checked }) => checked.length),
      0,
    ),
    exactly(
      "places where the key stands",
      sum(runs, ({ leaks }) => leaks.length),
      0,
    ),
    exactly(
      "searches that find what is there",
      runs.filter(({ isSearchSound }) => isSearchSound).length,
      runs.length,
    ),
    // A long run always covers these; a short one may not.
    ...(turns < 500
      ? []
      : [
          atLeast(
            "kinds of faults that struck",
            struck.size,
            simulatedKinds + wireFaultNames.length + 2,
          ),
          atLeast(
            "turns of which a part arrived",
            sum(runs, ({ partials }) => partials),
            turns / 100,
          ),
        ]),
  ];
}

/** Rate limited, overloaded, server error, slow, stall, cut, malformed. */
const simulatedKinds = 7;

function sum(runs: readonly Faulted[], of: (run: Faulted) => number): number {
  return runs.reduce((total, run) => total + of(run), 0);
}
