// Threads of 1,000 and 10,000 turns: one long branch, and a chain where every turn is a fork.
import { join } from "node:path";
import { loadSessions } from "../../harness/ledger-load.ts";
import {
  createShortTurn,
  prepareTurn,
  recordTurn,
  sampleSession,
} from "../../harness/ledger-turns.ts";
import { median } from "../../harness/measure.ts";
import { createRandom } from "../../harness/random-message.ts";
import type { Ledger } from "../../src/core/ledger/ledger.ts";
import { createLedger } from "../../src/edge/stores/ledger/create-ledger.ts";
import { openSqlite } from "../../src/edge/stores/sqlite/open-sqlite.ts";
import { timeOf } from "./rounds.ts";

const shallow = 1000;
const deep = 10_000;
const rounds = 7;

export interface DeepTree {
  readonly shallowMs: number;
  readonly deepMs: number;
  /** 10 if time grows linearly. */
  readonly times: number;
}

export async function measureLongBranch(folder: string): Promise<DeepTree> {
  const database = openSqlite({ file: join(folder, "branch.db"), synchronous: "NORMAL" });
  const ledger = await createLedger(database);
  const random = createRandom(5);
  const samples = Array.from({ length: 100 }, () => createShortTurn(random, 200));
  const [session] = await loadSessions(database, { sessions: 1, turnsPerSession: deep, samples });
  const ids: string[] = [];
  for await (const { id } of ledger.readTurns({ sessionId: session?.id ?? "" })) ids.push(id);
  return measure(ledger, ids);
}

export async function measureForks(folder: string): Promise<DeepTree> {
  const database = openSqlite({ file: join(folder, "forks.db"), synchronous: "NORMAL" });
  const ledger = await createLedger(database);
  const sample = createShortTurn(createRandom(6), 200);
  await ledger.createSession(sampleSession("fork-0"));
  const ids: string[] = [];
  for (let depth = 0; depth < deep; depth += 1) {
    const sessionId = `fork-${depth}`;
    const from = { sessionId: `fork-${depth - 1}` };
    if (depth > 0) await ledger.forkSession({ id: sessionId, from });
    const turn = prepareTurn(`turn-${depth}`, sample);
    await recordTurn(ledger, turn, { sessionId, parentTurnId: ids.at(-1) ?? null });
    ids.push(turn.id);
  }
  return measure(ledger, ids);
}

async function measure(ledger: Ledger, ids: readonly string[]): Promise<DeepTree> {
  const times = { shallow: [] as number[], deep: [] as number[] };
  for (let round = -2; round < rounds; round += 1) {
    const shallowMs = await timeOf(() => expectMessages(ledger, ids, shallow));
    const deepMs = await timeOf(() => expectMessages(ledger, ids, deep));
    if (round < 0) continue;
    times.shallow.push(shallowMs);
    times.deep.push(deepMs);
  }
  await ledger.close();
  const [shallowMs, deepMs] = [median(times.shallow), median(times.deep)];
  return { shallowMs, deepMs, times: deepMs / shallowMs };
}

async function expectMessages(
  ledger: Ledger,
  ids: readonly string[],
  turns: number,
): Promise<void> {
  let messages = 0;
  const turnId = ids[turns - 1] ?? "";
  for await (const { index } of ledger.readThread({ turnId })) messages += index >= 0 ? 1 : 0;
  if (messages !== 2 * turns) throw new Error(`${messages} messages in ${turns} turns`);
}
