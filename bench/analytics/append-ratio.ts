// What stored sums cost the writer: the same calls recorded in turn with marks and catching up, and without either.
import { quantile } from "../../harness/measure.ts";
import { createRandom, type Random } from "../../harness/random-message.ts";
import type { GatewayCall } from "../../src/core/ledger/gateway-call.ts";
import { createLedger } from "../../src/edge/stores/ledger/create-ledger.ts";
import { openDatabase } from "../../src/edge/stores/open-ledger.ts";
import type { Database } from "../../src/edge/stores/sql/database.ts";
import { makeCall } from "../../torture/rollups/work.ts";

const rounds = 5;
const batches = 40;
const callsPerBatch = 250;
/** Four busy hours. */
const spanMs = 4 * 3_600_000;

/** Calls per second with stored sums ÷ without: the median of rounds that run in turn. */
export async function appendRatio(open: () => Promise<string>): Promise<number> {
  const ratios: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const without = await appendSeconds(await open(), round, false);
    const withSums = await appendSeconds(await open(), round, true);
    ratios.push(without / withSums);
  }
  return quantile(ratios, 0.5);
}

async function appendSeconds(where: string, seed: number, hasSums: boolean): Promise<number> {
  const database = await openDatabase(where);
  let nowMs = Date.UTC(2026, 10, 16);
  const ledger = await createLedger(database, { now: () => nowMs });
  try {
    if (!hasSums) await dropMarks(database);
    const random = createRandom(seed + 1);
    const given = Array.from({ length: batches }, (_, batch) => makeBatch(random, nowMs, batch));
    const start = performance.now();
    for (const [batch, calls] of given.entries()) {
      await ledger.recordCalls(calls);
      nowMs += spanMs / batches;
      if (hasSums && batch % 5 === 4) await ledger.catchUp();
    }
    if (hasSums) {
      nowMs += 3_600_000;
      await ledger.catchUp();
    }
    return (performance.now() - start) / 1000;
  } finally {
    await ledger.close();
  }
}

/** Calls as they end, in order of time. */
function makeBatch(random: Random, startMs: number, batch: number): readonly GatewayCall[] {
  const fromMs = startMs + batch * (spanMs / batches);
  return Array.from({ length: callsPerBatch }, (_, index) => {
    const callMs = fromMs + Math.floor((index / callsPerBatch) * (spanMs / batches));
    return { ...makeCall(random, callMs), startMs: callMs, firstByteMs: null, endMs: callMs + 900 };
  });
}

async function dropMarks(database: Database): Promise<void> {
  const rows = await database.query(
    database.kind === "sqlite"
      ? "SELECT name, '' AS on_table FROM sqlite_master WHERE type = 'trigger' AND name LIKE '%_marked'"
      : "SELECT CAST(tgname AS TEXT) AS name, ' ON ' || CAST(CAST(tgrelid AS regclass) AS TEXT) AS on_table FROM pg_trigger WHERE tgname LIKE '%_marked'",
  );
  for (const { name, on_table: table } of rows) {
    await database.query(`DROP TRIGGER ${String(name)}${String(table)}`);
  }
}
