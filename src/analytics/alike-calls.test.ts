import { afterAll, beforeAll, expect, test } from "vitest";
import { loadSessions } from "../../harness/ledger-load.ts";
import { createSampleTurn } from "../../harness/ledger-turns.ts";
import { createRandom } from "../../harness/random-message.ts";
import { createLedger } from "../edge/stores/ledger/create-ledger.ts";
import { createNames } from "../edge/stores/rollups/rollup-names.ts";
import { openSqlite, type SqliteDatabase } from "../edge/stores/sqlite/open-sqlite.ts";
import type { PriceBands } from "../edge/stores/rollups/price-bands.ts";
import { readAlike, type PricedCalls } from "./alike-calls.ts";

const window = { startMs: 10, endMs: 100 };
const steps: PriceBands = { aboveTokens: [1000, 2000], fromMs: [50], peaks: [] };
const question = {
  window,
  groupBy: "none",
  order: { by: "saved_usd", isDescending: true },
  limit: 100,
  baseline: null,
  turn: null,
};

/** Tokens of the prompt, when it was sent, and whether an attempt was discarded before it. */
const calls = [
  [1000, 10, false],
  [1000, 49, false],
  [1001, 20, false],
  [2000, 20, true],
  [2001, 50, false],
  [1, 99, false],
] as const;

let database: SqliteDatabase;

beforeAll(async () => {
  database = openSqlite({ file: ":memory:" });
  await createLedger(database);
  const sample = createSampleTurn(createRandom(1), 100);
  await loadSessions(database, { sessions: 1, turnsPerSession: calls.length, samples: [sample] });
  await database.query("DELETE FROM calls WHERE number > 1");
  const rows = await database.query("SELECT turn_id FROM calls ORDER BY started_ms");
  for (const [index, [tokens, startMs, isRetried]] of calls.entries()) {
    const discarded = isRetried ? [{ uncachedTokens: 7 }] : [];
    await database.query(
      "UPDATE calls SET uncached_tokens = ?, read_tokens = 0, write_5m_tokens = 0, started_ms = ?, outcome_json = ? WHERE turn_id = ?",
      [
        tokens,
        startMs,
        JSON.stringify({ discarded, failure: null, notes: [] }),
        String(rows[index]?.["turn_id"]),
      ],
    );
  }
});

afterAll(() => database.close());

test("calls are grouped if they are on the same side of every price step, and so is the length and time they are priced by", async () => {
  const found = await ask();
  expect(found.map(summaryOf)).toEqual([
    { calls: 1, tokens: 1, tier: 0, isAfterChange: true, isCostOfUsage: true },
    { calls: 1, tokens: 1001, tier: 1, isAfterChange: false, isCostOfUsage: true },
    { calls: 2, tokens: 2000, tier: 0, isAfterChange: false, isCostOfUsage: true },
    { calls: 1, tokens: 2000, tier: 1, isAfterChange: false, isCostOfUsage: false },
    { calls: 1, tokens: 2001, tier: 2, isAfterChange: true, isCostOfUsage: true },
  ]);
});

test("where no price changes, one group holds all calls except those with discarded attempts", async () => {
  const found = await ask({ aboveTokens: [], fromMs: [], peaks: [] });
  expect(found.map(({ callCount, startMs }) => [callCount, startMs])).toEqual([
    [1, window.startMs],
    [5, window.startMs],
  ]);
});

test("calls of peak hours are a group apart, priced at such an hour", async () => {
  // All were made in the first hour of 1970, a Thursday; one moves to the fourth.
  await database.query("UPDATE calls SET started_ms = 10800099 WHERE started_ms = 99");
  const late: PriceBands = {
    aboveTokens: [],
    fromMs: [],
    peaks: [{ name: "any", weekdays: [4], hoursUtc: [[3, 4]], exceptOn: [] }],
  };
  const found = await ask(late, { startMs: 10, endMs: 20_000_000 });
  expect(found.map(({ callCount, startMs }) => [callCount, startMs])).toEqual([
    [1, 10_800_000],
    [1, 10],
    [4, 10],
  ]);
  await database.query("UPDATE calls SET started_ms = 99 WHERE started_ms = 10800099");
});

async function ask(at = steps, within = window): Promise<readonly PricedCalls[]> {
  const found = await database.snapshot(({ query }) =>
    readAlike(
      {
        query,
        clockSql: database.clockSql,
        gatewayKey: null,
        cells: { query, names: createNames(query), state: null, gatewayKey: null },
      },
      { ...question, window: within },
      at,
    ),
  );
  return found.toSorted(
    (left, right) =>
      left.uncachedTokens - right.uncachedTokens || left.promptTokens - right.promptTokens,
  );
}

function summaryOf({
  callCount,
  uncachedTokens,
  promptTokens,
  startMs,
  isCostOfUsage,
}: PricedCalls): object {
  return {
    calls: callCount,
    tokens: uncachedTokens,
    tier: steps.aboveTokens.filter((step) => promptTokens > step).length,
    isAfterChange: startMs >= 50,
    isCostOfUsage,
  };
}
