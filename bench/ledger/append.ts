// Recording turns of 8 KB: a ledger against its own bare statements, on both databases.
import { join } from "node:path";
import {
  createSampleTurn,
  prepareTurn,
  recordTurn,
  sampleSession,
  type PreparedTurn,
} from "../../harness/ledger-turns.ts";
import type { PostgresServer } from "../../harness/postgres.ts";
import { createRandom } from "../../harness/random-message.ts";
import type { Ledger } from "../../src/core/ledger/ledger.ts";
import { createLedger } from "../../src/edge/stores/ledger/create-ledger.ts";
import { openPostgres } from "../../src/edge/stores/postgres/open-postgres.ts";
import { openSqlite } from "../../src/edge/stores/sqlite/open-sqlite.ts";
import { openBarePostgres, recordSent, type Sent } from "./bare-postgres.ts";
import { openBareSqlite, recordStatements, type Executed } from "./bare-sqlite.ts";
import { compareRounds, type Compared } from "./rounds.ts";

const turnsPerRound = 25;
const warmups = 2;
const sessionId = "measured";

export interface AppendOptions {
  readonly rounds: number;
  readonly synchronous?: "FULL" | "NORMAL";
}

export async function compareSqlite(
  folder: string,
  { rounds, synchronous = "FULL" }: AppendOptions,
): Promise<Compared> {
  const turns = prepareTurns((rounds + warmups) * turnsPerRound);
  const fileOf = (name: string): string => join(folder, `append-${synchronous}-${name}.db`);

  const recording = openSqlite({ file: fileOf("recorded"), synchronous: "NORMAL" });
  const taken = recordStatements(recording.connection);
  const recorded = await createLedger(recording);
  await recorded.createSession(sampleSession(sessionId));
  const setUp = taken();
  const perTurn: (readonly Executed[])[] = [];
  await recordAll(recorded, turns, () => perTurn.push(taken()));
  await recorded.close();

  const ledger = await createLedger(openSqlite({ file: fileOf("ledger"), synchronous }));
  await ledger.createSession(sampleSession(sessionId));
  const bare = openBareSqlite(fileOf("bare"), setUp, synchronous);
  const bareRounds = divide(perTurn).map((turnsOfRound) => bare.prepare(turnsOfRound.flat()));
  const compared = await compareRounds(
    {
      ledger: (round) =>
        recordAll(ledger, sliceOf(turns, round), () => {}, headBefore(turns, round)),
      bare: (round) => bareRounds[round]?.(),
    },
    { rounds, warmups },
  );
  await bare.close();
  await expectSame(ledger, await createLedger(openSqlite({ file: fileOf("bare") })));
  return perTurnOf(compared);
}

export interface ComparedPostgres extends Compared {
  /** Commits with more than one statement. */
  readonly divided: number;
}

export async function comparePostgres(
  server: PostgresServer,
  { rounds }: AppendOptions,
): Promise<ComparedPostgres> {
  const turns = prepareTurns((rounds + warmups) * turnsPerRound);
  const recording = recordSent(await openPostgres({ url: await server.createDatabase() }));
  const recorded = await createLedger(recording.database);
  recording.taken();
  await recorded.createSession(sampleSession(sessionId));
  const setUp = recording.taken();
  const perTurn: (readonly Sent[])[] = [];
  await recordAll(recorded, turns, () => perTurn.push(recording.taken()));
  await recorded.close();

  const ledger = await createLedger(await openPostgres({ url: await server.createDatabase() }));
  await ledger.createSession(sampleSession(sessionId));
  const bareUrl = await server.createDatabase();
  await (await createLedger(await openPostgres({ url: bareUrl }))).close();
  const bare = await openBarePostgres(bareUrl);
  await bare.send(setUp);
  const bareRounds = divide(perTurn).map((turnsOfRound) => turnsOfRound.flat());
  const compared = await compareRounds(
    {
      ledger: (round) =>
        recordAll(ledger, sliceOf(turns, round), () => {}, headBefore(turns, round)),
      bare: (round) => bare.send(bareRounds[round] ?? []),
    },
    { rounds, warmups },
  );
  await bare.close();
  await expectSame(ledger, await createLedger(await openPostgres({ url: bareUrl })));
  return { ...perTurnOf(compared), divided: recording.divided() };
}

/** Checks that the bare statements wrote the same rows; otherwise their speed means nothing. */
async function expectSame(ledger: Ledger, bare: Ledger): Promise<void> {
  const [left, right] = await Promise.all([ledger, bare].map(describe));
  if (left !== right) throw new Error(`the bare statements left ${right}, the ledger ${left}`);
  await Promise.all([ledger.close(), bare.close()]);
}

async function describe(ledger: Ledger): Promise<string> {
  const { rows, costPicoUsd } = await ledger.stats();
  const session = await ledger.findSession(sessionId);
  const { headTurnId, turnCount } = session ?? {};
  return JSON.stringify({ rows, costPicoUsd: String(costPicoUsd), headTurnId, turnCount });
}

function prepareTurns(count: number): readonly PreparedTurn[] {
  const random = createRandom(1);
  return Array.from({ length: count }, (_, index) =>
    prepareTurn(`turn-${index}`, createSampleTurn(random, 8192)),
  );
}

async function recordAll(
  ledger: Ledger,
  turns: readonly PreparedTurn[],
  onTurn: () => void,
  head: string | null = null,
): Promise<void> {
  let parentTurnId = head;
  for (const turn of turns) {
    await recordTurn(ledger, turn, { sessionId, parentTurnId });
    parentTurnId = turn.id;
    onTurn();
  }
}

function sliceOf<T>(turns: readonly T[], round: number): readonly T[] {
  return turns.slice(round * turnsPerRound, (round + 1) * turnsPerRound);
}

function headBefore(turns: readonly PreparedTurn[], round: number): string | null {
  return turns[round * turnsPerRound - 1]?.id ?? null;
}

function divide<T>(turns: readonly T[]): readonly (readonly T[])[] {
  const rounds = Math.ceil(turns.length / turnsPerRound);
  return Array.from({ length: rounds }, (_, round) => sliceOf(turns, round));
}

function perTurnOf({ ledgerMs, bareMs, share }: Compared): Compared {
  return { ledgerMs: ledgerMs / turnsPerRound, bareMs: bareMs / turnsPerRound, share };
}
