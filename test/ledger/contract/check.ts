// The check: silent on every ledger this suite makes, and in words about anything that does not hold.
import { expect, test } from "vitest";
import type { Ledger } from "../../../src/core/ledger/ledger.ts";
import type { OpenLedger } from "../stores.ts";
import {
  all,
  answers,
  asks,
  call,
  counted,
  newTurn,
  open as openTurn,
  openSession,
  refusal,
  run,
  runAll,
  startMs,
  openWith,
  compactAfter,
} from "../test-kit.ts";
import { writeRichSession } from "./rich-session.ts";

export function checkContract(open: OpenLedger): void {
  const unreadable: readonly (readonly [
    sql: string,
    read: (ledger: Ledger) => Promise<unknown>,
    row: string,
  ])[] = [
    [
      "UPDATE calls SET plan_json = 'x' WHERE turn_id = 't1'",
      (ledger) => ledger.readCalls("t1"),
      "call 1 of turn t1",
    ],
    [
      "UPDATE calls SET status = 'odd' WHERE turn_id = 't1'",
      (ledger) => ledger.readCalls("t1"),
      "call 1 of turn t1",
    ],
    [
      "UPDATE messages SET content = '{' WHERE idx = 0",
      (ledger) => ledger.readMessages("t1"),
      "message 0 of turn t1",
    ],
    [
      "UPDATE sessions SET role = 'odd' WHERE id = 'a'",
      (ledger) => ledger.listSessions(),
      "session a",
    ],
    [
      "UPDATE sessions SET state_json = '{' WHERE id = 'a'",
      (ledger) => ledger.readState("a"),
      "session a",
    ],
    ...["context_json", "setup_json"].map((column): (typeof unreadable)[number] => [
      `UPDATE sessions SET ${column} = '{' WHERE id = 'a'`,
      (ledger) => ledger.findSession("a"),
      "session a",
    ]),
    [
      "UPDATE turns SET permissions_used = 'x' WHERE id = 't1'",
      (ledger) => ledger.findTurn("t1"),
      "turn t1",
    ],
  ];
  test.for(unreadable)(
    "a reader says which row is damaged, and how to repair it: %s",
    async ([sql, read, row]) => {
      const { ledger, database, expectDamage } = await open();
      await openWith(ledger, "a", "t1 t2");
      expectDamage();
      await database.commit({ guards: [], writes: [{ sql, values: [] }] });
      const said = await refusal(read(ledger));
      expect(said.code).toBe("store-unavailable");
      expect(said.message).toContain(`${row} is damaged in the ledger: `);
      expect(said.hint).toContain("strata ledger check --repair");
      expect((await all(ledger.check())).length).toBeGreaterThan(0);
    },
  );

  test("a ledger with everything in it is in order", async () => {
    const { ledger } = await open();
    await writeRichSession(ledger);
    let seen = 0;
    expect(
      await all(
        ledger.check((checked) => {
          seen = checked;
        }),
      ),
    ).toEqual([]);
    expect(seen).toBe((await ledger.stats()).rows["messages"]);
  });

  const damages: readonly (readonly [sql: string, problem: RegExp])[] = [
    [
      `UPDATE messages SET content = '[{"type":"text","text":"forged"}]' WHERE idx = 0`,
      /message 0 at \d+ of branch \d+ does not match its hash/,
    ],
    ["UPDATE messages SET role = 'system' WHERE idx = 0", /does not match its hash/],
    [`UPDATE messages SET wire = '{"m":"x"}' WHERE idx = 0`, /does not match its hash/],
    ["UPDATE contents SET text = 'forged'", /content \w+ does not match its hash/],
    ["DELETE FROM messages WHERE idx = 0", /turn \w+ lacks a message/],
    ["DELETE FROM messages WHERE idx = 1", /turn \w+ lacks a message/],
    ["DELETE FROM calls WHERE number = 1", /turn t2 has 1 calls, but the last is number 2/],
    ["UPDATE calls SET cost_pico_usd = 1 WHERE turn_id = 't1'", /t1|session a/],
    [
      "UPDATE sessions SET head_turn_id = 't3' WHERE id = 'a'",
      /session a points at turn t3, which is not completed/,
    ],
    [
      "UPDATE sessions SET head_turn_id = 't1' WHERE id = 'a'",
      /the last move of session a does not match its pointer/,
    ],
    [
      "UPDATE sessions SET head_turn_id = NULL WHERE id = 'a'",
      /the last move of session a does not match its pointer/,
    ],
    [
      "UPDATE sessions SET open_turn_id = 'ghost' WHERE id = 'a'",
      /session a has turn ghost open, which is closed or missing/,
    ],
    [
      "UPDATE sessions SET open_turn_id = NULL WHERE id = 'b'",
      /turn b1 is pending, but no session has it open/,
    ],
    [
      "DELETE FROM session_history WHERE session_id = 'a' AND move = 2",
      /session a moved 4 times, but 3 are in its history/,
    ],
    [
      "UPDATE turns SET status = 'pending' WHERE id = 't3'",
      /turn t3 is pending, but no session has it open/,
    ],
    [
      "UPDATE turns SET parent_turn_id = 't3' WHERE id = 'f1'",
      /completed turn f1 follows turn t3, which is failed/,
    ],
    ["UPDATE turns SET parent_turn_id = NULL WHERE id = 't2'", /turn t2/],
    ["UPDATE turns SET parent_turn_id = 't1' WHERE id = 'f1'", /turn f1/],
    [
      "UPDATE tool_calls SET status = 'pending'",
      /completed turn t2 has tool use u1 without an answer/,
    ],
    ["DELETE FROM compactions_v1", /compaction turn f1 has no details/],
    [
      "UPDATE compactions_v1 SET first_kept_turn_id = 'gone'",
      /compaction f1 keeps from turn gone, which does not exist/,
    ],
    [
      "UPDATE compactions_v1 SET first_kept_turn_id = NULL, summarized_through_turn_id = 'gone'",
      /compaction f1/,
    ],
    [
      "UPDATE turns SET branch_id = 5 WHERE id = 'empty'",
      /turn empty is on branch 5, which does not exist/,
    ],
    ["INSERT INTO branches (id) VALUES (5)", /branch 5 belongs to no session/],
  ];
  test.for(damages)("%s is found", async ([sql, problem]) => {
    const { ledger, database, expectDamage } = await open();
    expectDamage();
    await openSession(ledger, "a", { foundation: "system" });
    await run(ledger, "a", "t1");
    const turn = await openTurn(ledger, "a", "t2");
    await turn.append(call("t2", 1, { reply: asks("u1") }));
    await turn.answer([counted(answers("u1", "ok"))]);
    await turn.append(call("t2", 2, { sent: [answers("u1", "ok")] }));
    await turn.close({ status: "completed", endMs: startMs });
    await (await openTurn(ledger, "a", "t3")).close({ status: "failed", endMs: startMs });
    await compactAfter(ledger, "a", "f1", "t2", {
      summarizedThroughTurnId: "t1",
      firstKeptTurnId: "t2",
    });
    await openSession(ledger, "b");
    await openTurn(ledger, "b", "b1");
    await openSession(ledger, "c");
    const empty = await ledger.openTurn(newTurn("c", "empty", null, { messages: [] }));
    await empty.close({ status: "failed", endMs: startMs });
    expect(await all(ledger.check())).toEqual([]);

    await database.query(sql);
    expect(await all(ledger.check())).toContainEqual(expect.stringMatching(problem));
  });

  test("what is in a ledger is counted", async () => {
    const { ledger } = await open();
    expect(await ledger.stats()).toMatchObject({ costPicoUsd: 0n, oldestMs: null, newestMs: null });
    await openSession(ledger, "a", { foundation: "system" });
    await runAll(ledger, "a", "t1 t2");
    const { store, schema, rows, bytes, ...more } = await ledger.stats();
    expect(["sqlite", "postgres"]).toContain(store);
    expect(schema).toBeGreaterThanOrEqual(1);
    expect(bytes).toBeGreaterThan(10_000);
    expect(rows).toEqual({
      contents: 1,
      branches: 1,
      sessions: 1,
      session_history: 3,
      turns: 2,
      messages: 4,
      message_terms: 0,
      calls: 2,
      tool_calls: 0,
      compactions_v1: 0,
      compaction_locks_v1: 0,
      events: 0,
      queue_items: 0,
      conversation_blocks: 0,
      gateway_runs: 0,
      conversation_states: 0,
      provider_resources: 0,
      key_spending: 0,
    });
    expect(more).toEqual({
      costPicoUsd: 2000n,
      unpricedCallCount: 0,
      oldestMs: startMs + 10,
      newestMs: startMs + 10,
    });
  });
}
