// Kills writers at any moment, on both databases, alone and four at a time, and restarts the server under them. The
// store then holds exactly the acknowledged commits, whole and in order.
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
  type Experiment,
  type Settings,
  type StoreKind,
} from "../harness/report.ts";
import { openTally, type Tally } from "./ledger/tally.ts";
import { playRound, type RoundKind, type Store } from "./ledger/round.ts";
import { createJournal } from "./ledger/journal.ts";

export const experiment: Experiment = {
  summary: "writers are killed at random: nothing acknowledged is lost, nothing else is kept",
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
    const server = stores.includes("postgres") ? await startPostgres() : null;
    const tally = openTally();
    try {
      for (const [index, store] of stores.entries()) {
        const share = Math.ceil((kills - tally.kills) / (stores.length - index));
        await torture({ store, kills: tally.kills + share, seed, folder, server, tally, settings });
      }
    } finally {
      await server?.stop();
      rmSync(folder, { recursive: true, force: true });
    }
    return { figures: figuresOf(tally, seed), checks: checksOf(tally, kills, server !== null) };
  },
};

interface Torture {
  readonly store: StoreKind;
  /** Stops after this many kills in total. */
  readonly kills: number;
  readonly seed: number;
  readonly folder: string;
  readonly server: PostgresServer | null;
  readonly tally: Tally;
  readonly settings: Settings;
}

/** Three writers alone, one after the other, then four at once. */
const cycle: readonly RoundKind[] = ["alone", "alone", "alone", "together"];
/** After this many rounds a new store starts, so that kills during its creation are covered too. */
const roundsPerStore = 16;

async function torture(options: Torture): Promise<void> {
  const { kills, seed, tally, settings } = options;
  const random = createRandom(seed + (options.store === "sqlite" ? 0 : 1_000_003));
  let store = await createStore(options, 0);
  for (let round = 0; tally.kills < kills; round += 1) {
    if (round > 0 && round % roundsPerStore === 0) store = await createStore(options, round);
    const kind = kills - tally.kills < 4 ? "alone" : (cycle[round % cycle.length] ?? "alone");
    await playRound({ store, kind, round, random, tally, progress: settings.progress });
    settings.progress(
      `${options.store}, ${kind}: ${tally.kills} kills, ${tally.acknowledged} commits, ${tally.losses} losses, ${tally.checked + tally.problems} problems`,
    );
  }
}

async function createStore({ store, folder, server }: Torture, round: number): Promise<Store> {
  const journal = createJournal();
  return server === null || store === "sqlite"
    ? { where: join(folder, `${round}.db`), journal, restart: null }
    : {
        where: await server.createDatabase(),
        journal,
        restart: (...how) => server.restart(...how),
      };
}

function figuresOf(tally: Tally, seed: number): Record<string, number> {
  return {
    seed,
    "writers alone": tally.alone,
    "rounds of four writers": tally.together,
    "writers stalled past their lease": tally.stalled,
    "acknowledged commits": tally.acknowledged,
    "interrupted turns": tally.interrupted,
    resumed: tally.resumed,
    abandoned: tally.abandoned,
    conflicts: tally.conflicts,
    "of them with a lost lease": tally.fenced,
    "locks held by others": tally.locksTaken,
    "server restarts": tally.restarts,
  };
}

function checksOf(tally: Tally, kills: number, hasServer: boolean): ReturnType<typeof exactly>[] {
  return [
    atLeast("kills", tally.kills, kills),
    exactly("losses", tally.losses, 0),
    exactly("problems of check()", tally.checked, 0),
    exactly("half commits, unknown rows, broken threads and bills", tally.problems, 0),
    exactly("writers that gave up by themselves", tally.gaveUp, 0),
    exactly("writers that did not go on after a restart", tally.stuck, 0),
    atLeast("acknowledged commits checked", tally.acknowledged, kills),
    // A long run always covers these; a short one may not.
    ...(kills < 50
      ? []
      : [
          atLeast("turns resumed", tally.resumed, 1),
          atLeast("turns abandoned", tally.abandoned, 1),
          atLeast("conflicts", tally.conflicts, 1),
          ...(hasServer ? [atLeast("server restarts", tally.restarts, 2)] : []),
        ]),
  ];
}
