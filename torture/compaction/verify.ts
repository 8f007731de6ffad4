// After a round, with no writers left: every session shows the old history or the new one, and can continue.
import { setTimeout as wait } from "node:timers/promises";
import { waitForOthers } from "../../harness/postgres.ts";
import type { Random } from "../../harness/random-message.ts";
import type { Ledger } from "../../src/core/ledger/ledger.ts";
import { createLedger } from "../../src/edge/stores/ledger/create-ledger.ts";
import { openDatabase } from "../../src/edge/stores/open-ledger.ts";
import type { Database } from "../../src/edge/stores/sql/database.ts";
import type { Journal } from "./journal.ts";
import { digestItems, readItems } from "./shadow.ts";
import type { Counted } from "./node-event.ts";
import { watchLedger } from "./watch-ledger.ts";
import { createWorker } from "./work.ts";

export interface VerifyOptions {
  readonly where: string;
  readonly name: string;
  readonly leaseMs: number;
  readonly providerUrl: string;
  readonly journal: Journal;
  readonly random: Random;
  readonly count: (what: Counted) => void;
}

export interface Findings {
  readonly problems: readonly string[];
  /** Results of the ledger's own check. */
  readonly checked: readonly string[];
  /** Abandoned locks that could be taken over. */
  readonly takenOver: number;
}

export async function verifyStore(options: VerifyOptions): Promise<Findings> {
  const { where, leaseMs, journal } = options;
  const url = where.startsWith("postgres") ? `${where}?application_name=checker` : where;
  const database = await openDatabase(url);
  const ledger = await createLedger(database, { leaseMs, holder: "checker" });
  try {
    await waitForOthers(database);
    const problems = [...journal.findLate(), ...(await compareAll(ledger, journal))];
    const checked: string[] = [];
    for await (const problem of ledger.check()) checked.push(problem);
    problems.push(...(await billProblems(database)));
    const ids = (await ledger.listSessions()).map(({ id }) => id);
    let takenOver = 0;
    for (const id of ids) {
      const isLeft = await isLockHeld(database, id);
      const lock = (await ledger.lockCompaction(id)) ?? (await lockInTime(ledger, id, leaseMs));
      if (lock === null) problems.push(`the lock on session ${id} cannot be taken over`);
      if (isLeft && lock !== null) takenOver += 1;
      await lock?.release();
    }
    problems.push(...(await goOn(ledger, ids, options)), ...(await compareAll(ledger, journal)));
    return { problems, checked, takenOver };
  } finally {
    await ledger.close();
  }
}

async function compareAll(ledger: Ledger, journal: Journal): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const { id, headTurnId: head } of await ledger.listSessions()) {
    const path: string[] = [];
    for await (const turn of ledger.readTurns({ sessionId: id })) path.push(turn.id);
    const digest = digestItems(await readItems(ledger, id));
    problems.push(...journal.compare({ id, head, digest, path }));
  }
  return problems;
}

async function billProblems(database: Database): Promise<readonly string[]> {
  const rows = await database.query(billSql);
  return rows.flatMap((row) =>
    row["cost"] === row["billed"]
      ? []
      : [
          `session ${String(row["id"])} costs ${String(row["cost"])}, its calls and folds ${String(row["billed"])}`,
        ],
  );
}

const billSql = `SELECT s.id, CAST(s.cost_pico_usd AS TEXT) AS cost,
  CAST(COALESCE((SELECT SUM(c.cost_pico_usd) FROM calls c WHERE c.session_id = s.id), 0)
    + COALESCE((SELECT SUM(f.cost_pico_usd) FROM compactions_v1 f WHERE f.session_id = s.id), 0) AS TEXT) AS billed
  FROM sessions s`;

/** No node is running, so a recorded holder was killed. */
async function isLockHeld(
  database: Awaited<ReturnType<typeof openDatabase>>,
  sessionId: string,
): Promise<boolean> {
  const rows = await database.query(
    "SELECT 1 AS held FROM compaction_locks_v1 WHERE session_id = ? AND holder IS NOT NULL",
    [sessionId],
  );
  return rows.length > 0;
}

async function lockInTime(
  ledger: Ledger,
  id: string,
  leaseMs: number,
): ReturnType<Ledger["lockCompaction"]> {
  const endMs = performance.now() + leaseMs + 2000;
  for (;;) {
    const lock = await ledger.lockCompaction(id);
    if (lock !== null || performance.now() > endMs) return lock;
    await wait(20);
  }
}

/** Continues every unfinished turn with the normal code. */
async function goOn(
  ledger: Ledger,
  ids: readonly string[],
  { name, leaseMs, providerUrl, journal, random, count }: VerifyOptions,
): Promise<readonly string[]> {
  const watched = watchLedger(ledger, (event) => journal.add(`${name} checker`, event));
  const worker = createWorker({
    ledger: watched,
    providerUrl,
    random,
    count,
    summaryMsMax: 0,
    compactionsFirst: false,
  });
  const problems: string[] = [];
  try {
    for (const id of ids) {
      const endMs = performance.now() + leaseMs + 2000;
      while ((await ledger.findSession(id))?.openTurnId != null && performance.now() < endMs) {
        await worker.work(id);
        await wait(10);
      }
      if ((await ledger.findSession(id))?.openTurnId != null) {
        problems.push(`the open turn of session ${id} is not found`);
      } else await worker.work(id);
    }
  } catch (error) {
    problems.push(
      `the session cannot continue: ${error instanceof Error ? String(error.stack) : String(error)}`,
    );
  } finally {
    await worker.close();
  }
  return problems;
}
