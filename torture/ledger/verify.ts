// After a kill: the store opens, shows exactly what was acknowledged, and can continue.
import { setTimeout as wait } from "node:timers/promises";
import { waitForOthers } from "../../harness/postgres.ts";
import { nowUs } from "../../harness/worker-process.ts";
import type { Random } from "../../harness/random-message.ts";
import type { Ledger } from "../../src/core/ledger/ledger.ts";
import { createLedger } from "../../src/edge/stores/ledger/create-ledger.ts";
import { openDatabase } from "../../src/edge/stores/open-ledger.ts";
import { digestOf, type Counted } from "./facts.ts";
import type { Journal } from "./journal.ts";
import { readStore, type StoreView, type TurnView } from "./read-store.ts";
import { recover } from "./scenes.ts";
import { isConflict, type Stage } from "./stage.ts";

export interface Findings {
  readonly losses: readonly string[];
  /** Results of the ledger's own check. */
  readonly checked: readonly string[];
  /** All other problems. */
  readonly problems: readonly string[];
  /** Number of interrupted turns found. */
  readonly interrupted: number;
}

export interface VerifyOptions {
  readonly where: string;
  readonly leaseMs: number;
  readonly journal: Journal;
  readonly random: Random;
  readonly count: (what: Counted) => void;
}

/** Call when no writer runs. */
export async function verifyStore(options: VerifyOptions): Promise<Findings> {
  const { where, leaseMs, journal } = options;
  const database = await openDatabase(withName(where));
  const ledger = await createLedger(database, { leaseMs, holder: "checker" });
  try {
    await waitForOthers(database);
    const before = await readStore(database);
    const { losses, strays } = journal.compare(before.facts);
    const problems = [...strays];
    const checked: string[] = [];
    for await (const problem of ledger.check()) checked.push(problem);
    problems.push(...invariants(before), ...(await threadProblems(ledger, before, options.random)));
    const recovered = await recoverAll(ledger, before, options);
    problems.push(...recovered.problems);
    const after = await readStore(database);
    const again = journal.compare(after.facts);
    problems.push(...again.strays, ...invariants(after));
    return {
      losses: [...losses, ...again.losses],
      checked,
      problems,
      interrupted: recovered.interrupted,
    };
  } finally {
    await ledger.close();
  }
}

function withName(where: string): string {
  return where.startsWith("postgres") ? `${where}?application_name=checker` : where;
}

/** Invariants between rows: one line of turns per session, and costs that add up. */
function invariants({ sessions, turns }: StoreView): readonly string[] {
  const problems: string[] = [];
  for (const [id, { cost, billed, moves, head }] of sessions) {
    if (cost !== billed) problems.push(`session ${id} costs ${cost}, its calls ${billed}`);
    if (moves.at(-1) !== head) problems.push(`session ${id} did not move to its head`);
    for (const [index, turnId] of moves.entries()) {
      if (index === 0 || turnId === null) continue;
      const parent = turns.get(turnId)?.parent;
      if (parent !== moves[index - 1]) {
        problems.push(`turn ${turnId} of session ${id} does not follow the one before it`);
      }
    }
  }
  return problems;
}

const threadsPerRound = 12;

/** Compares threads read by the ledger with the chain of parents. */
async function threadProblems(
  ledger: Ledger,
  { sessions, turns }: StoreView,
  random: Random,
): Promise<readonly string[]> {
  const problems: string[] = [];
  const ids = [...sessions].filter(([, { head }]) => head !== null);
  for (let round = 0; round < Math.min(threadsPerRound, ids.length); round += 1) {
    const [id, session] = ids[Math.floor(random() * ids.length)] ?? ["", { head: null }];
    const read: string[] = [];
    for await (const { turnId, index, message } of ledger.readThread({ sessionId: id })) {
      read.push(`${turnId} ${index} ${digestOf(message)}`);
    }
    const expected = expectedThread(turns, session.head);
    if (read.join("\n") !== expected.join("\n")) {
      problems.push(`session ${id} reads ${read.length} messages, not these ${expected.length}`);
    }
  }
  return problems;
}

function expectedThread(
  turns: ReadonlyMap<string, TurnView>,
  head: string | null,
): readonly string[] {
  const path: { readonly id: string; readonly turn: TurnView }[] = [];
  for (let id = head; id !== null;) {
    const turn = turns.get(id);
    if (turn === undefined) return [`turn ${id} is not there`];
    path.unshift({ id, turn });
    id = turn.parent;
  }
  const spell = ({ id, turn }: (typeof path)[number]): string[] =>
    turn.messages
      .filter(({ isReplayed }) => isReplayed)
      .map(({ index, digest }) => `${id} ${index} ${digest}`);
  const compacted = path.findLast(({ turn }) => turn.compaction !== null);
  const compaction = compacted?.turn.compaction;
  const start =
    compaction === undefined || compaction === null
      ? 0
      : compaction.firstKept === null
        ? path.findIndex(({ id }) => id === compaction.through) + 1
        : path.findIndex(({ id }) => id === compaction.firstKept);
  const kept = path.slice(start).filter(({ turn }) => turn.type === "normal");
  return [...(compacted === undefined ? [] : [compacted]), ...kept].flatMap(spell);
}

/** Finds every open turn after its lease expired; ends most of them here and leaves some to the next writer. */
async function recoverAll(
  ledger: Ledger,
  { sessions, turns }: StoreView,
  { journal, random, leaseMs, count }: VerifyOptions,
): Promise<{ readonly problems: readonly string[]; readonly interrupted: number }> {
  const problems: string[] = [];
  let interrupted = 0;
  const stage = createStage(ledger, random, journal, count);
  for (const [id, { open }] of sessions) {
    if (open === null) continue;
    const unfinished = await findInTime(ledger, id, leaseMs);
    if (unfinished === null) {
      problems.push(`turn ${open} of session ${id} is not found as interrupted`);
      continue;
    }
    interrupted += 1;
    const { turn, messages, calls } = unfinished;
    const shown = turns.get(open)?.messages ?? [];
    const isWhole =
      turn.id === open &&
      turn.status === "interrupted" &&
      messages.map(({ message }) => digestOf(message)).join() ===
        shown.map(({ digest }) => digest).join() &&
      calls.every(({ number }, index) => number === index + 1);
    if (!isWhole) problems.push(`turn ${open} of session ${id} is found otherwise than it is`);
    if (random() < 0.7 && !(await recover(stage, id))) {
      problems.push(`turn ${open} of session ${id} can neither be resumed nor given up`);
    }
  }
  return { problems, interrupted };
}

async function findInTime(
  ledger: Ledger,
  sessionId: string,
  leaseMs: number,
): ReturnType<Ledger["findUnfinished"]> {
  const endMs = performance.now() + leaseMs + 2000;
  for (;;) {
    const unfinished = await ledger.findUnfinished(sessionId);
    if (unfinished !== null || performance.now() > endMs) return unfinished;
    await wait(20);
  }
}

function createStage(
  ledger: Ledger,
  random: Random,
  journal: Journal,
  count: (what: Counted) => void,
): Stage {
  const name = `checker ${nowUs()}`;
  let n = 0;
  return {
    ledger,
    random,
    attempt: async (tried, work) => {
      n += 1;
      journal.add(name, { at: "try", n, us: nowUs(), tried });
      try {
        await work();
      } catch (error) {
        if (!isConflict(error)) throw error;
        journal.add(name, { at: "refused", n });
        return false;
      }
      journal.add(name, { at: "done", n, us: nowUs() });
      return true;
    },
    count,
    pause: () => Promise.resolve(),
    stall: () => {},
  };
}
