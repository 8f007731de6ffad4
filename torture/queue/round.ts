// One round: speakers on one session are killed again and again; then what waits is run, and every message is looked for.
import { setTimeout as wait } from "node:timers/promises";
import type { Random } from "../../harness/random-message.ts";
import type { StoreKind } from "../../harness/report.ts";
import { startWorkerProcess, type WorkerProcess } from "../../harness/worker-process.ts";
import { openPostgres } from "../../src/edge/stores/postgres/open-postgres.ts";
import { openSqlite } from "../../src/edge/stores/sqlite/open-sqlite.ts";
import { text } from "../../src/edge/stores/sql/read-row.ts";
import type { Ledger } from "../../src/index.ts";
import type { SpeakerEvent, SpeakerTask } from "./speaker.ts";
import { openSpeaking, sessionId } from "./speaking.ts";

export interface QueueTally {
  kills: number;
  rounds: number;
  said: number;
  accepted: number;
  /** Accepted, and run by a process that was not its own. */
  elsewhere: number;
  readonly byMode: Map<string, number>;
  lost: number;
  twice: number;
  /** Handles whose turn does not have the message. */
  misled: number;
  /** Refusals that were not asked for, and what check() finds. */
  readonly problems: string[];
}

export function openQueueTally(): QueueTally {
  return {
    kills: 0,
    rounds: 0,
    said: 0,
    accepted: 0,
    elsewhere: 0,
    byMode: new Map(),
    lost: 0,
    twice: 0,
    misled: 0,
    problems: [],
  };
}

export interface QueueRound {
  readonly kind: StoreKind;
  readonly store: string;
  readonly number: number;
  readonly speakers: number;
  readonly kills: number;
  readonly random: Random;
  readonly tally: QueueTally;
}

interface Account {
  readonly accepted: Set<string>;
  /** By message, the turn that its handle named. */
  readonly done: Map<string, string>;
}

export async function playRound(round: QueueRound): Promise<void> {
  const account: Account = { accepted: new Set(), done: new Map() };
  // Every speaker finds the session there: a new one belongs to the process that made it.
  await inEngine(round, async (session) => void (await session.run("Begin.").result));
  await disturb(round, account);
  await inEngine(round, async (session, ledger) => {
    const handles = await session.runWaiting();
    await Promise.all(handles.map(({ result }) => result));
    // Also a turn that the last one left open.
    await session.run("End.").result;
    const waiting = await ledger.readQueue(sessionId);
    round.tally.problems.push(...waiting.map(({ id }) => `${id} still waits in the end`));
    for await (const problem of ledger.check()) round.tally.problems.push(problem);
    judge(round.tally, account, await findMessages(round, ledger));
  });
  round.tally.rounds += 1;
}

type Work = (
  session: Awaited<ReturnType<Awaited<ReturnType<typeof openSpeaking>>["session"]>>,
  ledger: Ledger,
) => Promise<void>;

async function inEngine({ store }: QueueRound, work: Work): Promise<void> {
  await using engine = await openSpeaking(store);
  await work(await engine.session(sessionId), engine.ledger);
}

/** Kills one speaker after the other and replaces each; in the end kills all. */
async function disturb(round: QueueRound, account: Account): Promise<void> {
  const { speakers, kills, random, tally, number } = round;
  let started = 0;
  const start = (): WorkerProcess<SpeakerEvent> => {
    started += 1;
    const name = `r${number}p${started}`;
    const seed = Math.floor(random() * 2 ** 31);
    return startWorkerProcess<SpeakerEvent>({
      program: new URL("speaker.ts", import.meta.url),
      name,
      task: { store: round.store, name, seed } satisfies SpeakerTask,
      onEvent: (event) => note(event, account, tally),
    });
  };
  const running = Array.from({ length: Math.min(speakers, kills) }, start);
  for (let left = kills; left > 0; left -= 1) {
    const index = Math.floor(random() * running.length);
    const [victim] = running.splice(index, 1);
    if (victim === undefined) return;
    await victim.ready;
    await wait(random() * lifeMsMax);
    if (await victim.kill()) tally.kills += 1;
    if (left > running.length + 1) running.push(start());
  }
}

const lifeMsMax = 400;

function note(event: SpeakerEvent, { accepted, done }: Account, tally: QueueTally): void {
  if (event.at === "said") {
    tally.said += 1;
    tally.byMode.set(event.mode, (tally.byMode.get(event.mode) ?? 0) + 1);
  } else if (event.at === "accepted") accepted.add(event.id);
  else if (event.at === "done") done.set(event.id, event.turnId);
  else if (event.at === "refused" && !isFull.test(event.message)) {
    tally.problems.push(`${event.id} was refused: ${event.message}`);
  }
}

const isFull = /has room for/;

/** The turns that have each message, finished or not. */
async function findMessages(
  { kind, store }: QueueRound,
  ledger: Ledger,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const database =
    kind === "sqlite" ? openSqlite({ file: store }) : await openPostgres({ url: store });
  const rows = await database.query("SELECT id FROM turns ORDER BY seq");
  await database.close();
  const found = new Map<string, string[]>();
  for (const turnId of rows.map((row) => text(row, "id"))) {
    const messages = await ledger.readMessages(turnId);
    const said = messages.filter(({ message }) => message.role === "user");
    const words = said.map(({ message }) => JSON.stringify(message.content)).join("\n");
    for (const [, id = ""] of words.matchAll(/\[(r\d+p\d+-\d+)\]/g)) {
      found.set(id, [...(found.get(id) ?? []), turnId]);
    }
  }
  return found;
}

function judge(
  tally: QueueTally,
  { accepted, done }: Account,
  found: ReadonlyMap<string, readonly string[]>,
): void {
  tally.accepted += accepted.size;
  for (const id of accepted) {
    if (found.has(id)) continue;
    tally.lost += 1;
    tally.problems.push(`${id} was accepted and is in no turn`);
  }
  for (const [id, turns] of found) {
    if (!done.has(id) && accepted.has(id)) tally.elsewhere += 1;
    if (turns.length === 1) continue;
    tally.twice += 1;
    tally.problems.push(`${id} is in the turns ${turns.join(", ")}`);
  }
  for (const [id, turnId] of done) {
    if (found.get(id)?.includes(turnId) === true) continue;
    tally.misled += 1;
    tally.problems.push(`the handle of ${id} named turn ${turnId}`);
  }
}
