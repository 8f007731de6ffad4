// Kills nodes at any moment of a compaction, on both databases, alone and in competition: every session continues with the
// old history or the new one, and a late node commits nothing.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startPostgres, type PostgresServer } from "../harness/postgres.ts";
import { createRandom } from "../harness/random-message.ts";
import {
  atLeast,
  chosenStores,
  exactly,
  wholeNumber,
  type Check,
  type Experiment,
  type Settings,
  type StoreKind,
} from "../harness/report.ts";
import { createSimulator } from "../src/simulator/index.ts";
import { plantedFaults, type PlantedFault } from "./compaction/faults.ts";
import { createJournal } from "./compaction/journal.ts";
import { playRound, type RoundKind, type Store, type Tally } from "./compaction/round.ts";
import { speak } from "./compaction/speak.ts";

export const experiment: Experiment = {
  summary: "nodes are killed while they fold: the old history or the new one, never a mixture",
  options: {
    kills: "how many processes are killed, 200 by default",
    seed: "where to start, 1 by default",
    store: "sqlite or postgres only; both by default",
  },
  async run(settings) {
    const kills = wholeNumber(settings, "kills", 200);
    const seed = wholeNumber(settings, "seed", 1);
    const stores = chosenStores(settings);
    const folder = mkdtempSync(join(tmpdir(), "strata-folds-"));
    const server = stores.includes("postgres") ? await startPostgres({ fsync: false }) : null;
    const simulator = createSimulator({ model: speak, callsMax: 10 });
    const provider = await simulator.listen({ port: 0 });
    const place = { folder, server, providerUrl: provider.url, settings, seed };
    const tally = openTally();
    let found = 0;
    try {
      for (const [index, store] of stores.entries()) {
        const share = Math.ceil((kills - tally.kills) / (stores.length - index));
        await torture({ ...place, store, tally, kills: tally.kills + share, fault: null });
      }
      for (const fault of plantedFaults) {
        if (await isFound({ ...place, store: stores[0] ?? "sqlite", fault })) found += 1;
      }
    } finally {
      await provider.close();
      await server?.stop();
      rmSync(folder, { recursive: true, force: true });
    }
    return { figures: figuresOf(tally, seed), checks: checksOf(tally, kills, found) };
  },
};

interface Place {
  readonly folder: string;
  readonly server: PostgresServer | null;
  readonly providerUrl: string;
  readonly settings: Settings;
  readonly seed: number;
}

interface Torture extends Place {
  readonly store: StoreKind;
  readonly fault: PlantedFault | null;
  readonly tally: Tally;
  /** Stops after this many kills in total. */
  readonly kills: number;
}

const cycle: readonly RoundKind[] = ["alone", "competing", "late holder", "alone", "competing"];
/** After this many rounds a new store starts, so that histories do not only grow. */
const roundsPerStore = 12;

async function torture(options: Torture): Promise<void> {
  const { tally, settings, providerUrl, fault } = options;
  const random = createRandom(options.seed + (options.store === "sqlite" ? 0 : 1_000_003));
  let store = await createStore(options, 0);
  for (let round = 0; tally.kills < options.kills; round += 1) {
    if (round > 0 && round % roundsPerStore === 0) store = await createStore(options, round);
    const kind = cycle[round % cycle.length] ?? "alone";
    const { progress } = settings;
    await playRound({ store, kind, round, random, providerUrl, tally, fault, progress });
    progress(
      `${options.store}, ${kind}: ${tally.kills} kills, ${tally.killsInCompactions} of them in a fold, ${tally.problems + tally.checked} problems`,
    );
  }
}

/** A planted fault must be found within this many rounds. */
const faultRoundsMax = 60;

async function isFound(options: Omit<Torture, "tally" | "kills">): Promise<boolean> {
  const { fault, settings, providerUrl } = options;
  const tally = openTally();
  const random = createRandom(options.seed);
  const kind = fault === "no fencing" ? "late holder" : "alone";
  let store = await createStore(options, 0);
  for (let round = 0; round < faultRoundsMax; round += 1) {
    // A session damaged by a fault is useless for the next round.
    if (round % 4 === 0) store = await createStore(options, round);
    await playRound({ store, kind, round, random, providerUrl, tally, fault, progress: quietly });
    if (tally.problems + tally.checked === 0) continue;
    settings.progress(`planted fault "${fault ?? ""}": reported after ${round + 1} rounds`);
    return true;
  }
  settings.progress(`planted fault "${fault ?? ""}": not reported`);
  return false;
}

/** Problems caused by a planted fault are expected. */
function quietly(): void {}

async function createStore(
  { store, folder, server, fault }: Pick<Torture, "store" | "folder" | "server" | "fault">,
  round: number,
): Promise<Store> {
  const journal = createJournal();
  return server === null || store === "sqlite"
    ? { where: join(folder, `${fault ?? "sound"}-${round}.db`), journal }
    : { where: await server.createDatabase(), journal };
}

function openTally(): Tally {
  return {
    counts: new Map(),
    kills: 0,
    killsInCompactions: 0,
    takenOver: 0,
    refusedCompactions: 0,
    checked: 0,
    problems: 0,
    gaveUp: 0,
  };
}

function figuresOf(tally: Tally, seed: number): Record<string, number> {
  return {
    seed,
    "kills in a fold": tally.killsInCompactions,
    "locks taken over": tally.takenOver,
    "folds of late holders refused": tally.refusedCompactions,
    ...Object.fromEntries(tally.counts),
  };
}

function checksOf(tally: Tally, kills: number, found: number): readonly Check[] {
  const folds = (tally.counts.get("folds") ?? 0) + (tally.counts.get("folds inside a turn") ?? 0);
  return [
    atLeast("kills", tally.kills, kills),
    exactly("mixed, lost or late histories, bills that do not add up", tally.problems, 0),
    exactly("problems of check()", tally.checked, 0),
    exactly("nodes that gave up by themselves", tally.gaveUp, 0),
    exactly("planted faults reported", found, plantedFaults.length),
    // A long run always covers these; a short one may not.
    ...(kills < 50
      ? []
      : [
          atLeast("kills in a fold", tally.killsInCompactions, kills / 4),
          atLeast("folds", folds, kills),
          atLeast("locks taken over", tally.takenOver, 1),
          atLeast("folds of late holders refused", tally.refusedCompactions, 1),
        ]),
  ];
}
