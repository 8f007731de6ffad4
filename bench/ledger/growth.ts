// The cost of recording and finding a turn in a small and a large ledger, both on disk, measured alternately.
import { randomUUID } from "node:crypto";
import { rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { loadSessions, type LoadedSession } from "../../harness/ledger-load.ts";
import { prepareTurn, recordTurn, type SampleTurn } from "../../harness/ledger-turns.ts";
import { median } from "../../harness/measure.ts";
import { createRandom, type Random } from "../../harness/random-message.ts";
import type { Ledger } from "../../src/core/ledger/ledger.ts";
import { createLedger } from "../../src/edge/stores/ledger/create-ledger.ts";
import { openSqlite } from "../../src/edge/stores/sqlite/open-sqlite.ts";
import { timeOf } from "./rounds.ts";

export interface GrowthOptions {
  readonly smallTurns: number;
  readonly largeTurns: number;
  readonly createSample: (random: Random) => SampleTurn;
  readonly progress: (line: string) => void;
}

export interface Growth {
  /** Median in the large ledger ÷ median in the small one. */
  readonly append: number;
  readonly open: number;
  readonly smallAppendMs: number;
  readonly largeAppendMs: number;
  readonly largeMb: number;
}

const turnsPerSession = 1000;
const rounds = 30;
const turnsPerRound = 10;
const warmups = 4;

export async function measureGrowth(folder: string, options: GrowthOptions): Promise<Growth> {
  const random = createRandom(4);
  const samples = Array.from({ length: 200 }, () => options.createSample(random));
  const small = await openLoaded(join(folder, "small.db"), options.smallTurns, samples, options);
  const large = await openLoaded(join(folder, "large.db"), options.largeTurns, samples, options);
  const largeMb = statSync(join(folder, "large.db")).size / 1e6;
  for (let round = 0; round < rounds + warmups; round += 1) {
    const sides = round % 2 === 0 ? [small, large] : [large, small];
    for (const side of sides) await measureRound(side, samples, random, round >= warmups);
  }
  for (const { ledger } of [small, large]) await ledger.close();
  for (const name of ["small", "large"]) {
    for (const end of ["", "-wal", "-shm"])
      rmSync(join(folder, `${name}.db${end}`), { force: true });
  }
  return {
    append: median(large.appendMs) / median(small.appendMs),
    open: median(large.openMs) / median(small.openMs),
    smallAppendMs: median(small.appendMs),
    largeAppendMs: median(large.appendMs),
    largeMb,
  };
}

interface Side {
  readonly ledger: Ledger;
  readonly sessions: readonly LoadedSession[];
  readonly heads: Map<string, string>;
  readonly appendMs: number[];
  readonly openMs: number[];
}

async function openLoaded(
  file: string,
  turns: number,
  samples: readonly SampleTurn[],
  { progress }: GrowthOptions,
): Promise<Side> {
  const loading = openSqlite({ file, synchronous: "NORMAL" });
  const empty = await createLedger(loading);
  const sessions = await loadSessions(loading, {
    sessions: turns / turnsPerSession,
    turnsPerSession,
    samples,
    onSession: (done) => {
      if ((done * turnsPerSession) % 100_000 === 0) progress(`${done * turnsPerSession} turns`);
    },
  });
  await loading.scrub();
  await empty.close();
  const heads = new Map(sessions.map(({ id, headTurnId }) => [id, headTurnId]));
  const ledger = await createLedger(openSqlite({ file }));
  return { ledger, sessions, heads, appendMs: [], openMs: [] };
}

/** Each turn goes to a random session, so its rows are not in a warm cache. */
async function measureRound(
  { ledger, sessions, heads, appendMs, openMs }: Side,
  samples: readonly SampleTurn[],
  random: Random,
  isMeasured: boolean,
): Promise<void> {
  for (let turn = 0; turn < turnsPerRound; turn += 1) {
    const { id: sessionId } = sessions[Math.floor(random() * sessions.length)] ?? { id: "" };
    const sample = samples[Math.floor(random() * samples.length)];
    if (sample === undefined) throw new Error("no samples");
    const parentTurnId = heads.get(sessionId) ?? "";
    const prepared = prepareTurn(randomUUID(), sample);
    const openTook = await timeOf(async () => {
      await ledger.findSession(sessionId);
      await ledger.readState(sessionId);
      await ledger.readMessages(parentTurnId);
    });
    const appendTook = await timeOf(() =>
      recordTurn(ledger, prepared, { sessionId, parentTurnId }),
    );
    heads.set(sessionId, prepared.id);
    if (!isMeasured) continue;
    openMs.push(openTook);
    appendMs.push(appendTook);
  }
}
