// Migrations: forward only, each once, by the first process that comes.
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { createLedger } from "../../../src/edge/stores/ledger/create-ledger.ts";
import { migrate } from "../../../src/edge/stores/sql/migrate.ts";
import { migrations } from "../../../src/edge/stores/sql/migrations.ts";
import { loneCallRow } from "../../../src/edge/stores/ledger/turns/call-rows.ts";
import { gatewayCall } from "../gateway-kit.ts";
import type { TestStore } from "../stores.ts";
import { all, loneCall, openSession, refusal, run, thread } from "../test-kit.ts";

const current = migrations.at(-1)?.number ?? 0;

export function migrationsContract({ blank, connect }: TestStore): void {
  test("steps are numbered upwards, one by one", () => {
    expect(migrations.map(({ number }) => number)).toEqual(migrations.map((_, index) => index + 1));
  });

  test("a blank database is brought to the current schema, and then there is nothing to do", async () => {
    const database = await connect(await blank());
    expect(await migrate(database, 1234)).toEqual({ from: 0, to: current });
    expect(await migrate(database, 5678)).toEqual({ from: current, to: current });
    expect(
      await database.query("SELECT number, applied_ms FROM strata_schema ORDER BY number"),
    ).toEqual(migrations.map(({ number }) => ({ number, applied_ms: 1234 })));
    await database.close();
  });

  test("a later step takes what is there with it; the program before it then refuses", async () => {
    const where = await blank();
    const ledger = await createLedger(await connect(where));
    await openSession(ledger, "a", { agent: "Ada" });
    await run(ledger, "a", "t1");
    const database = await connect(where);
    const later = {
      number: current + 1,
      name: "agents in capitals",
      statements: [
        "ALTER TABLE sessions ADD COLUMN mood TEXT",
        "UPDATE sessions SET mood = 'calm', agent = UPPER(agent)",
      ],
    };
    expect(await migrate(database, 9, [...migrations, later])).toEqual({
      from: current,
      to: current + 1,
    });
    expect(await database.query("SELECT id, mood, agent FROM sessions")).toEqual([
      { id: "a", mood: "calm", agent: "ADA" },
    ]);
    expect(await thread(ledger, "a")).toHaveLength(2);
    expect(await all(ledger.check())).toEqual([]);
    expect(await refusal(createLedger(database))).toEqual({
      code: "store-unavailable",
      message: `the ledger has schema ${current + 1}, and this program knows schemas up to ${current}`,
      hint: "use the version of strata that wrote it, or a later one",
    });
    await ledger.close();
    await database.close();
  });

  test("a ledger from before gateways opens with all it has, and then takes their calls", async () => {
    const where = await blank();
    const database = await connect(where);
    await migrate(database, 1, migrations.slice(0, 6));
    const [branch, session] = [
      "INSERT INTO branches (id) VALUES (7)",
      "INSERT INTO sessions (id, agent, role, model, provider, status, branch_id, next_seq, move_count, turn_count, cost_pico_usd, created_ms, updated_ms, lease_token, lease_expires_ms, version) VALUES ('a', 'ada', 'unified', 'claude', 'anthropic', 'active', 7, 1024, 1, 0, 500, 1, 1, 0, 0, 1)",
    ];
    const move =
      "INSERT INTO session_history (session_id, move, branch_id, moved_ms, reason) VALUES ('a', 1, 7, 1, 'opened')";
    const { plan_json, outcome_json } = loneCallRow(loneCall("a", "w1"));
    await database.exclusive(async (query) => {
      for (const sql of [branch, session, move]) await query(sql);
      await query(
        "INSERT INTO calls (number, session_id, started_ms, ended_ms, model, provider, policy, request_hash, status, cost_pico_usd, plan_json, outcome_json, entry_hash, kind, id) VALUES (0, 'a', 1, 2, 'claude', 'anthropic', 'adaptive', '', 'complete', 500, ?, ?, '', 'warm', 'w1')",
        [plan_json ?? null, outcome_json ?? null],
      );
    });
    await database.close();
    const ledger = await createLedger(await connect(where));
    expect(await ledger.listSessions()).toMatchObject([{ id: "a", origin: "engine" }]);
    expect(await ledger.readLoneCalls("a")).toMatchObject([{ id: "w1", costPicoUsd: 500n }]);
    await ledger.recordCalls([gatewayCall("seen", 1)]);
    await run(ledger, "a", "t1");
    expect(await ledger.readGatewayCalls("seen")).toHaveLength(1);
    expect(await all(ledger.check())).toEqual([]);
    await ledger.close();
  });

  test("a step that fails leaves nothing behind, and may be tried again", async () => {
    const database = await connect(await blank());
    const bad = {
      number: current + 1,
      name: "bad",
      statements: ["CREATE TABLE half (id TEXT)", "INSERT INTO nowhere VALUES (1)"],
    };
    await expect(migrate(database, 1, [...migrations, bad])).rejects.toThrow(/nowhere/);
    await expect(database.query("SELECT * FROM half")).rejects.toThrow(/half/);
    await expect(database.query("SELECT * FROM sessions")).rejects.toThrow(/sessions/);
    expect(await migrate(database, 1)).toEqual({ from: 0, to: current });
    await database.close();
  });

  test("of several processes that start together, one does the work", async () => {
    const where = await blank();
    const script = join(import.meta.dirname, "migrate-once.ts");
    const start = (): Promise<{ stdout: string }> =>
      promisify(execFile)(process.execPath, [script, where]);
    const told = await Promise.all([start(), start(), start()]);
    const from = told.map(({ stdout }): unknown => JSON.parse(stdout));
    expect(from).toContainEqual({ from: 0, to: current });
    expect(
      from.filter((each) => JSON.stringify(each) === `{"from":${current},"to":${current}}`),
    ).toHaveLength(2);
  });
}
