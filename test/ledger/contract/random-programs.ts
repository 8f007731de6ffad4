// Goal: the ledger is what a few maps would be, whatever happens in whatever order. Method: random programs on both.
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { programs, runProgram } from "../model/programs.ts";
import type { Ledger } from "../../../src/core/ledger/ledger.ts";
import { createLedger } from "../../../src/edge/stores/ledger/create-ledger.ts";
import { openSqlite } from "../../../src/edge/stores/sqlite/open-sqlite.ts";
import { leaseMs, type OpenLedger } from "../stores.ts";
import { all, each, lines } from "../test-kit.ts";

export function randomProgramsContract(open: OpenLedger, count: number): void {
  test(`${count} random programs of turns, forks, compactions, crashes and deletions end as the model says`, async () => {
    const { ledger, reopen, advance, empty } = await open();
    const other = await reopen();
    const world = { nodes: [ledger, other], passLease: () => advance(leaseMs + 1) } as const;
    await fc.assert(
      fc.asyncProperty(programs, async (program) => {
        await empty();
        expect(await runProgram(program, world)).toEqual([]);
        await expectSameAfterTransfer(ledger);
      }),
      { numRuns: count, seed: 20_261_116 },
    );
  });
}

/** One session of each program goes through a file into a ledger of its own. */
async function expectSameAfterTransfer(ledger: Ledger): Promise<void> {
  const [latest] = await ledger.listSessions({ status: "all", limit: 1 });
  if (latest === undefined) return;
  const written = await lines(ledger, latest.id);
  const copy = await createLedger(openSqlite({ file: ":memory:" }));
  await copy.importSession(each(written), { isTrusted: true });
  expect(await lines(copy, latest.id)).toEqual(written);
  expect(await all(copy.check())).toEqual([]);
  await copy.close();
}
