// One round: writers start, are disturbed and killed; then the store is checked.
import { setTimeout as wait } from "node:timers/promises";
import type { PostgresServer } from "../../harness/postgres.ts";
import type { Random } from "../../harness/random-message.ts";
import { startWorkerProcess, type WorkerProcess } from "../../harness/worker-process.ts";
import type { Counted, WriterEvent } from "./facts.ts";
import type { Journal } from "./journal.ts";
import type { Tally } from "./tally.ts";
import { verifyStore, type Findings } from "./verify.ts";
import type { WriterTask } from "./writer.ts";

export type RoundKind = "alone" | "together";

export interface Store {
  readonly where: string;
  readonly journal: Journal;
  /** Null without a server. */
  readonly restart: PostgresServer["restart"] | null;
}

export interface Round {
  readonly store: Store;
  readonly kind: RoundKind;
  readonly round: number;
  readonly random: Random;
  readonly tally: Tally;
  readonly progress: (line: string) => void;
}

/** Short, so that leases of killed writers expire soon. */
const leaseMs = 500;
const runForMsMax = 500;

export async function playRound(options: Round): Promise<void> {
  const { store, kind, random, tally, progress } = options;
  const { journal } = store;
  const before = {
    acknowledged: journal.acknowledged(),
    refused: journal.refused(),
    fenced: journal.fenced(),
  };
  const writers = startWriters(options);
  if (kind === "alone") await killAlone(writers, random, tally);
  else await disturbAndKill(writers, options);
  const count = (what: Counted): void => countOne(tally, what);
  const found = await verifyStore({ where: store.where, leaseMs, journal, random, count }).catch(
    cannotLook,
  );
  tally[kind] += 1;
  tally.acknowledged += journal.acknowledged() - before.acknowledged;
  tally.conflicts += journal.refused() - before.refused;
  tally.fenced += journal.fenced() - before.fenced;
  tally.interrupted += found.interrupted;
  tally.losses += found.losses.length;
  tally.checked += found.checked.length;
  tally.problems += found.problems.length;
  for (const loss of found.losses.slice(0, shownMax)) progress(`LOST ${loss}`);
  for (const problem of found.checked.slice(0, shownMax)) progress(`CHECK ${problem}`);
  for (const problem of found.problems.slice(0, shownMax)) progress(`PROBLEM ${problem}`);
}

/** A store that cannot be opened or read counts as a problem. */
function cannotLook(error: unknown): Findings {
  const words = error instanceof Error ? String(error.stack) : String(error);
  const problems = [`the store cannot be looked at: ${words}`];
  return { losses: [], checked: [], problems, interrupted: 0 };
}

const shownMax = 5;

function startWriters({ store, kind, round, random, tally, progress }: Round): readonly Writer[] {
  const onEvent = (writer: string, event: WriterEvent): void => {
    store.journal.add(writer, event);
    if (event.at === "count") countOne(tally, event.what);
    if (event.at !== "problem") return;
    tally.gaveUp += 1;
    progress(`writer ${writer} gave up: ${event.message}`);
  };
  return Array.from({ length: kind === "alone" ? 1 : 4 }, (_, index) => {
    const seed = Math.floor(random() * 2 ** 31);
    const own = ["a", "b"].map((name) => `${name}${index}`);
    const shared = kind === "alone" ? [] : ["shared-1", "shared-2"];
    const task = { where: store.where, seed, leaseMs, own, shared };
    return startWriter(`${round}.${index}`, task, onEvent);
  });
}

function countOne(tally: Tally, what: Counted): void {
  if (what === "lock taken") tally.locksTaken += 1;
  else tally[what] += 1;
}

/** Sometimes kills before the writer has opened the store. */
async function killAlone(writers: readonly Writer[], random: Random, tally: Tally): Promise<void> {
  for (const writer of writers) {
    if (random() < 0.12) await wait(100 + random() * 300);
    else await Promise.allSettled([writer.ready]).then(() => wait(random() * runForMsMax));
    if (await writer.kill()) tally.kills += 1;
  }
}

/** Pauses one writer until its lease expires, restarts the server, then kills the writers one after the other. */
async function disturbAndKill(writers: readonly Writer[], options: Round): Promise<void> {
  const { store, round, random, tally } = options;
  await Promise.allSettled(writers.map(({ ready }) => ready));
  await wait(random() * runForMsMax);
  const stalled = writers[Math.floor(random() * writers.length)];
  stalled?.pause();
  tally.stalled += 1;
  await wait(leaseMs * 1.5);
  stalled?.resume();
  // Every second round with four writers.
  if (store.restart !== null && round % 8 === 3) {
    await restartUnder(writers, store.restart, options);
  }
  for (const writer of writers) {
    await wait(random() * runForMsMax);
    if (await writer.kill()) tally.kills += 1;
  }
}

const goOnForMsMax = 20_000;

async function restartUnder(
  writers: readonly Writer[],
  restart: PostgresServer["restart"],
  { random, tally, progress }: Round,
): Promise<void> {
  for (const mode of ["fast", "immediate"] as const) {
    await restart(mode, random() * 500);
    tally.restarts += 1;
    const before = new Map(writers.map((writer) => [writer, writer.acknowledged()]));
    const isGoingOn = (writer: Writer): boolean =>
      writer.acknowledged() >= (before.get(writer) ?? 0) + 5;
    const endMs = performance.now() + goOnForMsMax;
    while (!writers.every(isGoingOn) && performance.now() < endMs) await wait(20);
    for (const writer of writers.filter((each) => !isGoingOn(each))) {
      tally.stuck += 1;
      progress(`writer ${writer.name} does not go on after a restart (${mode})`);
    }
  }
}

interface Writer extends WorkerProcess<WriterEvent> {
  readonly name: string;
  /** Commits it acknowledged so far. */
  acknowledged(): number;
}

function startWriter(
  name: string,
  task: WriterTask,
  onEvent: (writer: string, event: WriterEvent) => void,
): Writer {
  let acknowledged = 0;
  const started = startWorkerProcess<WriterEvent>({
    program: new URL("writer.ts", import.meta.url),
    name,
    task,
    onEvent: (event) => {
      if (event.at === "done") acknowledged += 1;
      onEvent(name, event);
    },
  });
  return { name, ...started, acknowledged: () => acknowledged };
}
