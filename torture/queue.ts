// Kills processes that say things to one busy session, on both databases: every message that was accepted runs, and runs once.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startPostgres } from "../harness/postgres.ts";
import { createRandom } from "../harness/random-message.ts";
import {
  atLeast,
  chosenStores,
  exactly,
  wholeNumber,
  type Check,
  type Experiment,
  type StoreKind,
} from "../harness/report.ts";
import { queueModes } from "../src/core/config/schema/queue.ts";
import { openQueueTally, playRound, type QueueTally } from "./queue/round.ts";

export const experiment: Experiment = {
  summary: "processes with queued messages are killed: no message is lost, none runs twice",
  options: {
    kills: "how many processes are killed on each database, 200 by default",
    speakers: "how many speak to the session at once, 3 by default",
    seed: "where to start, 1 by default",
    store: "sqlite or postgres only; both by default",
  },
  async run(settings) {
    const kills = wholeNumber(settings, "kills", 200);
    const speakers = wholeNumber(settings, "speakers", 3);
    const seed = wholeNumber(settings, "seed", 1);
    const stores = chosenStores(settings);
    const folder = mkdtempSync(join(tmpdir(), "strata-torture-"));
    const server = stores.includes("postgres") ? await startPostgres({ fsync: false }) : null;
    const tallies = new Map<StoreKind, QueueTally>();
    try {
      for (const kind of stores) {
        const tally = openQueueTally();
        tallies.set(kind, tally);
        const random = createRandom(seed);
        for (let number = 1; tally.kills < kills; number += 1) {
          const store =
            server === null || kind === "sqlite"
              ? join(folder, `${number}.db`)
              : await server.createDatabase();
          const left = Math.min(kills - tally.kills, killsPerRound);
          await playRound({ kind, store, number, speakers, kills: left, random, tally });
          settings.progress(
            `${kind}: ${tally.kills} kills, ${tally.accepted} messages accepted, ${tally.lost} lost, ${tally.twice} run twice, ${tally.problems.length} problems`,
          );
        }
        for (const problem of tally.problems.slice(0, shownMax)) settings.progress(`  ${problem}`);
      }
    } finally {
      await server?.stop();
      rmSync(folder, { recursive: true, force: true });
    }
    return {
      figures: { seed, ...Object.assign({}, ...[...tallies].map(figuresOf)) },
      checks: [...tallies].flatMap(([kind, tally]) => checksOf(kind, tally, kills)),
    };
  },
};

const killsPerRound = 20;
/** How many problems are printed; all are counted. */
const shownMax = 20;

function figuresOf([kind, tally]: readonly [StoreKind, QueueTally]): Record<string, number> {
  return {
    [`${kind}: rounds`]: tally.rounds,
    [`${kind}: messages said`]: tally.said,
    [`${kind}: accepted messages whose process did not see the end`]: tally.elsewhere,
    ...Object.fromEntries(
      queueModes.map((mode) => [`${kind}: said as ${mode}`, tally.byMode.get(mode) ?? 0]),
    ),
  };
}

function checksOf(kind: StoreKind, tally: QueueTally, kills: number): readonly Check[] {
  return [
    atLeast(`${kind}: kills`, tally.kills, kills),
    atLeast(`${kind}: messages accepted`, tally.accepted, kills),
    exactly(`${kind}: messages lost`, tally.lost, 0),
    exactly(`${kind}: messages run twice`, tally.twice, 0),
    exactly(`${kind}: handles that named a turn without the message`, tally.misled, 0),
    exactly(`${kind}: problems`, tally.problems.length, 0),
    // A long run always covers these; a short one may not.
    ...(kills < 50
      ? []
      : [
          atLeast(
            `${kind}: messages whose process died before their end`,
            tally.elsewhere,
            kills / 4,
          ),
        ]),
  ];
}
