// One round: writers on one workspace are killed and stalled until it is full; then every entry is checked.
import { setTimeout as wait } from "node:timers/promises";
import type { Random } from "../../harness/random-message.ts";
import { startWorkerProcess, type WorkerProcess } from "../../harness/worker-process.ts";
import { makeEntry } from "./entry.ts";
import { openTortured } from "./stores.ts";
import {
  holderPid,
  lookAt,
  noteEvent,
  openAccount,
  watch,
  type Account,
  type Watched,
} from "./watch.ts";
import type { StoreKind, WriterEvent, WriterTask } from "./writer-task.ts";

export interface Tally extends Watched {
  kills: number;
  stalls: number;
  /** Writers killed or stalled while they held the lock. */
  whileHolding: number;
  rounds: number;
  elsewhere: number;
  writes: number;
  accepted: number;
  refused: number;
  strays: number;
  probeMsMax: number;
  readonly problems: string[];
}

export interface Round {
  readonly workspace: string;
  readonly number: number;
  readonly writers: number;
  /** The limit for this round. */
  readonly killsMax: number;
  readonly lifetimeMs: number;
  readonly isElsewhere: boolean;
  readonly store: StoreKind;
  readonly random: Random;
  readonly tally: Tally;
}

/** Low enough that all entries together stay below the cap. */
const entriesMax = 150;

export async function playRound(round: Round): Promise<void> {
  const { workspace, tally, lifetimeMs } = round;
  const account = openAccount();
  let isOver = false;
  const watching = watch(workspace, account, tally, () => isOver);
  const start = createStarter(round, account);
  await disturb(round, account, start);
  // The next writer must succeed, whatever the killed ones left behind.
  const probe = await openTortured({ ...start.task("probe0"), lifetimeMs });
  const entry = makeEntry("probe0", 1);
  account.tried.add(entry);
  account.waiting.clear();
  account.waiting.add(process.pid);
  const startedMs = performance.now();
  if ((await probe.add(entry)) !== null) account.accepted.add(entry);
  tally.probeMsMax = Math.max(tally.probeMsMax, performance.now() - startedMs);
  isOver = true;
  await watching;
  settle(round, account);
}

/** Kills writers one after the other and replaces each; in the end kills all. */
async function disturb(round: Round, account: Account, start: Starter): Promise<void> {
  const { writers, killsMax, random, tally, lifetimeMs } = round;
  const running: Writer[] = Array.from({ length: writers }, () => start.one());
  await Promise.all(running.map(({ ready }) => ready));
  let kills = 0;
  while (kills < killsMax - writers && !account.isFull) {
    await wait(random() * 120);
    // Half of the time the writer that holds the lock, otherwise any.
    const holding = random() < 0.5 ? await findHolder(round, running) : -1;
    const index = holding === -1 ? Math.floor(random() * writers) : holding;
    const victim = running[index];
    if (victim === undefined) continue;
    if (holding !== -1) tally.whileHolding += 1;
    if (random() < (holding === -1 ? 0.1 : 0.4)) {
      tally.stalls += 1;
      victim.pause();
      account.waiting.delete(victim.pid);
      await wait(lifetimeMs * (1.1 + random() / 4));
      victim.resume();
      continue;
    }
    account.waiting.delete(victim.pid);
    if (await victim.kill()) kills += 1;
    account.waiting.delete(victim.pid);
    running[index] = start.one();
  }
  const ended = await Promise.all(running.map((writer) => writer.kill()));
  tally.kills += kills + ended.filter(Boolean).length;
}

/** -1 if no lock holder was found. */
async function findHolder({ workspace }: Round, running: readonly Writer[]): Promise<number> {
  for (let look = 0; look < 200; look += 1) {
    const pid = holderPid(workspace);
    const index = pid === null ? -1 : running.findIndex((writer) => writer.pid === pid);
    if (index !== -1) return index;
    await new Promise((resolve) => setImmediate(resolve));
  }
  return -1;
}

interface Starter {
  task(name: string): WriterTask;
  one(): Writer;
}

function createStarter(round: Round, account: Account): Starter {
  const { workspace, lifetimeMs, isElsewhere, store, number, writers, random } = round;
  let count = 0;
  const task = (name: string): WriterTask => ({
    workspace,
    name,
    seed: Math.floor(random() * 2 ** 31),
    lifetimeMs,
    isElsewhere,
    entriesMax: entriesMax - writers - 1,
    store,
  });
  return {
    task,
    one: () => {
      const name = `w${String(number % 100).padStart(2, "0")}${String((count += 1)).padStart(3, "0")}`;
      return startWriter(task(name), (pid, event) => noteEvent(account, pid, event));
    },
  };
}

function settle({ workspace, isElsewhere, tally }: Round, account: Account): void {
  const { torn, lost, strays } = lookAt(workspace, account);
  tally.rounds += 1;
  if (isElsewhere) tally.elsewhere += 1;
  tally.writes += account.writes;
  tally.accepted += account.accepted.size;
  tally.refused += account.refused;
  tally.strays += strays.length;
  if (torn !== null) tally.problems.push(`in the end the file is not whole: ${torn}`);
  tally.problems.push(
    ...lost.map((entry) => `${entry} was accepted and is lost`),
    ...account.problems,
  );
}

type Writer = WorkerProcess<WriterEvent>;

function startWriter(task: WriterTask, onEvent: (pid: number, event: WriterEvent) => void): Writer {
  const writer: Writer = startWorkerProcess<WriterEvent>({
    program: new URL("writer.ts", import.meta.url),
    name: task.name,
    task,
    onEvent: (event) => onEvent(writer.pid, event),
  });
  return writer;
}
