// Kills and stalls writers of one memory at any moment: the file is always whole and contains all accepted entries.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRandom } from "../harness/random-message.ts";
import {
  atLeast,
  atMost,
  exactly,
  UsageError,
  wholeNumber,
  type Check,
  type Experiment,
  type Settings,
} from "../harness/report.ts";
import { playRound, type Tally } from "./memory/round.ts";
import { storeKinds, type StoreKind } from "./memory/writer-task.ts";

export const experiment: Experiment = {
  summary:
    "writers are killed at random: memory is always whole, no accepted entry is lost, no lock stays",
  options: {
    kills: "how many processes are killed, 200 by default",
    writers: "how many write at once, 4 by default",
    seed: "where to start, 1 by default",
    store: "strata by default; plain, unlocked and unfenced show what the checks see",
  },
  async run(settings) {
    const kills = wholeNumber(settings, "kills", 200);
    const writers = wholeNumber(settings, "writers", 4);
    const seed = wholeNumber(settings, "seed", 1);
    const store = storeOf(settings);
    const random = createRandom(seed);
    const tally = openTally();
    let shown = 0;
    for (let number = 0; tally.kills < kills; number += 1) {
      const workspace = mkdtempSync(join(tmpdir(), "strata-torture-"));
      try {
        await playRound({
          workspace,
          number,
          writers,
          killsMax: Math.max(writers, Math.min(kills - tally.kills, killsPerRound)),
          lifetimeMs,
          isElsewhere: number % 2 === 1,
          store,
          random,
          tally,
        });
      } finally {
        rmSync(workspace, { recursive: true, force: true });
      }
      const { torn, lost, problems } = tally;
      settings.progress(
        `${tally.kills} kills, ${tally.accepted} entries accepted; ${torn} torn, ${lost} with losses, ${problems.length} problems`,
      );
      for (const problem of problems.slice(shown, shownMax)) settings.progress(`  ${problem}`);
      shown = problems.length;
    }
    return { figures: figuresOf(tally, seed), checks: checksOf(tally, kills, store) };
  },
};

/** How many problems are printed; all are counted. */
const shownMax = 20;
/** Long enough for a write on a busy machine, short enough to expire often. */
const lifetimeMs = 1000;
/** Scheduling delay of a waiting process on a busy machine. */
const schedulingMs = 500;
const killsPerRound = 16;

function storeOf({ options }: Settings): StoreKind {
  const store = storeKinds.find((kind) => kind === (options["store"] ?? "strata"));
  if (store === undefined) throw new UsageError(`--store is one of ${storeKinds.join(", ")}`);
  return store;
}

function openTally(): Tally {
  return {
    kills: 0,
    stalls: 0,
    whileHolding: 0,
    rounds: 0,
    elsewhere: 0,
    writes: 0,
    accepted: 0,
    refused: 0,
    strays: 0,
    probeMsMax: 0,
    problems: [],
    looks: 0,
    torn: 0,
    lost: 0,
    lockMsMax: 0,
    locksSeen: 0,
  };
}

function figuresOf(tally: Tally, seed: number): Record<string, number> {
  return {
    seed,
    rounds: tally.rounds,
    "rounds as on several machines": tally.elsewhere,
    "writers stalled past the lock's lifetime": tally.stalls,
    "killed or stalled while holding the lock": tally.whileHolding,
    "accepted writes": tally.writes,
    "accepted entries": tally.accepted,
    "consolidations refused because of others": tally.refused,
    "looks at the file": tally.looks,
    "locks seen": tally.locksSeen,
    "lifetime of a lock, ms": lifetimeMs,
  };
}

function checksOf(tally: Tally, kills: number, store: StoreKind): Check[] {
  return [
    atLeast("kills", tally.kills, kills),
    exactly("looks at a file that was not one complete version", tally.torn, 0),
    exactly("looks at a file without an accepted entry", tally.lost, 0),
    exactly("unknown entries", tally.strays, 0),
    exactly("losses at the end, forked versions, writers that gave up", tally.problems.length, 0),
    atMost(
      "longest a lock was held while others wanted it, ms",
      tally.lockMsMax,
      lifetimeMs + schedulingMs,
    ),
    atMost("longest wait after all were killed, ms", tally.probeMsMax, lifetimeMs + schedulingMs),
    atLeast("accepted entries checked", tally.accepted, kills),
    // A long run always covers these; a short one may not.
    ...(kills < 50 || store !== "strata"
      ? []
      : [
          atLeast("writers stalled", tally.stalls, 1),
          atLeast("killed or stalled while holding the lock", tally.whileHolding, 1),
          atLeast("rounds as on several machines", tally.elsewhere, 1),
          atLeast("consolidations refused because of others", tally.refused, 1),
        ]),
  ];
}
