// The contract of the ledger, on the embedded database.
import { expect, test } from "vitest";
import { createLedger } from "../../src/edge/stores/ledger/create-ledger.ts";
import { before } from "../../harness/watch/wrap.ts";
import { fieldsOf, listOf, textIn } from "../../src/core/message/fields.ts";
import { openSqlite } from "../../src/edge/stores/sqlite/open-sqlite.ts";
import { ledgerContract } from "./contract.ts";
import { gatewayCall } from "./gateway-kit.ts";
import { sqliteStore } from "./stores.ts";
import { all, compaction, newCompaction, newTurn, openSession, runAll } from "./test-kit.ts";

const store = sqliteStore();

ledgerContract(store, { programs: 300 });

test("words of a deleted session leave the full-text index itself, not only its answers", async () => {
  const { ledger, database } = await store.open();
  const inIndex = async (): Promise<string> => {
    const rows = await database.query("SELECT HEX(block) AS hex FROM message_terms_text_data");
    return rows.map(({ hex }) => Buffer.from(String(hex), "hex").toString("latin1")).join(" ");
  };
  await openSession(ledger, "a");
  await runAll(ledger, "a", "t1 t2 t3");
  await compaction(ledger, newCompaction("a", "f1", "t3", { summarizedThroughTurnId: "t3" }));
  await ledger.searchHistory({ sessionId: "a", text: "question" });
  expect(await inIndex()).toMatch(/[0-9a-z]{4}/);
  await ledger.deleteSession("a");
  expect(await inIndex()).not.toMatch(/[0-9a-z]{4}/);
});

test("a connection that knew the index before others wrote to it does not take it for damaged", async () => {
  const where = await store.blank();
  const [first, second] = [openSqlite({ file: where }), openSqlite({ file: where })];
  const [one, other] = [await createLedger(first), await createLedger(second)];
  for (let round = 0; round < 6; round += 1) {
    for (const [ledger, id] of [
      [one, `a${round}`],
      [other, `b${round}`],
    ] as const) {
      await openSession(ledger, id);
      await runAll(ledger, id, `${id}-1 ${id}-2`);
      await compaction(
        ledger,
        newCompaction(id, `${id}-f`, `${id}-2`, { summarizedThroughTurnId: `${id}-2` }),
      );
      await ledger.searchHistory({ sessionId: id, text: "question" });
      if (round % 2 === 1) await ledger.deleteSession(id);
    }
    expect(await all(one.check())).toEqual([]);
    expect(await all(other.check())).toEqual([]);
  }
  await one.close();
  await other.close();
});

test("a conversation is read, recorded and deleted without reading the calls of others", async () => {
  const database = openSqlite({ file: await store.blank() });
  const ledger = await createLedger(database);
  await ledger.recordCalls([gatewayCall("a", 1), gatewayCall("b", 1)]);
  const statements: string[] = [];
  before(database, "query", (sql) => statements.push(String(sql)));
  before(database, "commit", (commit) => statements.push(...textsOf(commit)));
  await ledger.readGatewayCalls("a");
  await ledger.readPrompt("a", "a-1");
  await ledger.recordCalls([gatewayCall("a", 2)]);
  await ledger.deleteSession("a");
  const ofSessions = statements.filter((sql) =>
    /(?:FROM|JOIN|UPDATE) calls\b.*session_id/s.test(sql),
  );
  const plans = ofSessions.flatMap((sql) =>
    database.connection
      .prepare(`EXPLAIN QUERY PLAN ${sql}`)
      .all(...Array.from(sql.matchAll(/\?/g), () => "a"))
      .map(({ detail }) => String(detail))
      .filter((detail) => /^(?:SEARCH|SCAN) c/.test(detail)),
  );
  expect(plans.length).toBeGreaterThan(4);
  expect(plans.filter((plan) => !plan.includes("(session_id=?"))).toEqual([]);
  await ledger.close();
});

test("the queue of a session is read and counted with the index of what waits", async () => {
  const database = openSqlite({ file: await store.blank() });
  const ledger = await createLedger(database);
  await openSession(ledger, "a");
  const statements: string[] = [];
  before(database, "query", (sql) => statements.push(String(sql)));
  await ledger.readQueue("a");
  await ledger.openTurn(newTurn("a", "t1", null, { takes: [] }));
  const reads = statements.filter((sql) => sql.includes("FROM queue_items"));
  const plans = reads.map((sql) =>
    database.connection.prepare(`EXPLAIN QUERY PLAN ${sql}`).all("a"),
  );
  const detail = "SEARCH queue_items USING INDEX queue_items_open (session_id=?)";
  expect(plans).toMatchObject([[{ detail }], [{ detail }]]);
  await ledger.close();
});

test("states of conversations are found by their signs, not by reading them all", async () => {
  const database = openSqlite({ file: await store.blank() });
  const ledger = await createLedger(database);
  const asked: [sql: string, values: readonly unknown[]][] = [];
  before(database, "query", (sql, values) => asked.push([String(sql), listOf(values)]));
  const signs = { prefixKeys: ["key"], openingKey: "opening", headKey: "head" };
  const names = { threads: ["thread"], replyId: "reply", conversationIds: ["a"] };
  await ledger.findStates({ tenant: "t", ...signs, ...names });
  const [[sql, values] = ["", []], ...more] = asked;
  expect(more).toEqual([]);
  const plan = database.connection
    .prepare(`EXPLAIN QUERY PLAN ${sql}`)
    .all(...values.map(() => "a"))
    .map(({ detail }) => String(detail));
  const reads = plan.filter((detail) => /conversation_states|\bstate\b/.test(detail));
  expect(reads).toHaveLength(7);
  expect(reads.filter((detail) => !detail.startsWith("SEARCH"))).toEqual([]);
  await ledger.close();
});

function textsOf(commit: unknown): readonly string[] {
  const { guards, writes } = fieldsOf(commit);
  return [...listOf(guards), ...listOf(writes)].flatMap(
    (each) => textIn(fieldsOf(each), "sql") ?? [],
  );
}
