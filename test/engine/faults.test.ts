// Goal: whatever a provider does, a turn ends in a reply or in a clear failure on record. Method: 100 turns over three
// protocols while every other request fails in some way; then the ledger, the events and every text are looked at.
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startPostgres, type PostgresServer } from "../../harness/postgres.ts";
import { runFaults } from "../../torture/engine/faults.ts";
import { makePlace } from "./test-kit.ts";

let server: PostgresServer;

beforeAll(async () => {
  server = await startPostgres({ fsync: false });
});
afterAll(() => server.stop());

test.each(["sqlite", "postgres"])(
  "100 turns with faults end in a reply or a clear failure on record, and the key is nowhere (%s)",
  async (kind) => {
    const store =
      kind === "sqlite" ? join(makePlace().folder, "ledger.db") : await server.createDatabase();
    const run = await runFaults({ store, turns: 100, seed: 7, rate: 0.5 });
    expect(run.turns).toBeGreaterThanOrEqual(100);
    expect(run.replies).toBeGreaterThan(30);
    expect([...run.failures.values()].reduce((sum, count) => sum + count, 0)).toBeGreaterThan(10);
    expect([...run.failures.keys()]).not.toContain("none");
    expect(run.partials).toBeGreaterThan(0);
    expect([run.unclear, run.checked, run.leaks]).toEqual([[], [], []]);
    expect(run.isSearchSound).toBe(true);
  },
);
