// Goal: a large message takes memory in proportion to its size. Method: a child process records one of 20 MB on PostgreSQL;
// its peak was 1,376 MB while the driver escaped it, and is 211 MB now.
import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { startPostgres } from "../../harness/postgres.ts";

test("a message of 20 MB full of quotes is recorded on PostgreSQL within 600 MB of memory", async () => {
  const server = await startPostgres({ fsync: false });
  const words = ["test/ledger/large-message.child.ts", await server.createDatabase()];
  const ended = spawnSync(process.execPath, words, { encoding: "utf8" });
  await server.stop();
  expect(ended.stderr).toBe("");
  expect(Number(ended.stdout)).toBeGreaterThan(50);
  expect(Number(ended.stdout)).toBeLessThan(600);
});
