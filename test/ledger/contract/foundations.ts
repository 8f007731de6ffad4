// Tools and system text that a turn brings for a model the session was not with before.
import { expect, test } from "vitest";
import { hashContent } from "../../../src/core/hash.ts";
import type { Ledger, OpenTurn } from "../../../src/core/ledger/ledger.ts";
import type { NewTurn } from "../../../src/core/ledger/turn-record.ts";
import type { OpenLedger } from "../stores.ts";
import {
  call,
  each,
  lines,
  newCompaction,
  newTurn,
  openSession,
  refusal,
  run,
  startMs,
  compactAfter,
} from "../test-kit.ts";

const other = { model: "other", provider: "elsewhere" };

export function foundationsContract(open: OpenLedger): void {
  test("what a turn brought for its model is found on the way to a later one, and for no other model", async () => {
    const { ledger, reopen } = await open();
    await openSession(ledger, "a", { foundation: "first" });
    await run(ledger, "a", "t1");
    await close(await bring(ledger, "t2", "for the other"));
    await run(ledger, "a", "t3");
    const brought = {
      turnId: "t2",
      foundationHash: hashContent("for the other"),
      setupJson: '{"of":"t2"}',
    };
    const again = await reopen();
    expect(await again.findFoundation({ sessionId: "a" }, other)).toEqual(brought);
    expect(await again.findFoundation({ turnId: "t1" }, other)).toBeNull();
    const otherwise = { ...other, provider: "here" };
    expect(await again.findFoundation({ sessionId: "a" }, otherwise)).toBeNull();
    expect(
      (await again.readMessages("t2")).map(({ model, provider }) => [model, provider]),
    ).toEqual([
      ["other", "elsewhere"],
      ["other", "elsewhere"],
    ]);
  });

  test("of a turn that runs it is found from that turn alone; of one that came to nothing, not at all", async () => {
    const { ledger } = await open();
    await openSession(ledger, "a");
    await run(ledger, "a", "t1");
    const turn = await bring(ledger, "t2", "unsure");
    expect(await ledger.findFoundation({ sessionId: "a" }, other)).toBeNull();
    expect((await ledger.findFoundation({ turnId: "t2" }, other))?.turnId).toBe("t2");
    await turn.close({ status: "failed", endMs: startMs + 1, reason: "cut off" });
    await run(ledger, "a", "t3");
    expect(await ledger.findFoundation({ sessionId: "a" }, other)).toBeNull();
  });

  test("a compaction ends it: from then on the compaction's own holds", async () => {
    const { ledger } = await open();
    await openSession(ledger, "a");
    await close(await bring(ledger, "t1", "before the fold"));
    await compactAfter(ledger, "a", "f1", "t1", { summarizedThroughTurnId: "t1" });
    expect(await ledger.findFoundation({ sessionId: "a" }, other)).toBeNull();
    const turn = await bring(ledger, "t2", "in the turn");
    const lock = await ledger.lockCompaction("a");
    if (lock === null) throw new Error("another holder compacts");
    const made = newCompaction("a", "f2", "f1", {
      summarizedThroughTurnId: "t1",
      firstKeptTurnId: "t2",
    });
    await turn.compact({ ...made, foundation: "of the fold" }, lock);
    await lock.release();
    await close(turn);
    expect(await ledger.findFoundation({ sessionId: "a" }, other)).toBeNull();
    expect((await ledger.findCompaction({ sessionId: "a" }))?.foundationHash).toBe(
      hashContent("of the fold"),
    );
  });

  test("it goes into an export and comes back, is shared by forks, and goes with the last that needs it", async () => {
    const { ledger, empty } = await open();
    await openSession(ledger, "a");
    await close(await bring(ledger, "t1", "shared"));
    const written = await lines(ledger, "a");
    await empty();
    await ledger.importSession(each(written), { isTrusted: true });
    expect(await lines(ledger, "a")).toEqual(written);
    expect(await ledger.readContent(hashContent("shared"))).toBe("shared");
    await ledger.forkSession({ id: "b", from: { sessionId: "a" } });
    expect((await ledger.findFoundation({ sessionId: "b" }, other))?.turnId).toBe("t1");
    await ledger.deleteSession("a");
    expect(await ledger.readContent(hashContent("shared"))).toBe("shared");
    await ledger.deleteSession("b");
    expect((await ledger.stats()).rows["contents"]).toBe(0);
  });

  test("one that cannot be kept to the byte is refused with its turn", async () => {
    const { ledger } = await open();
    await openSession(ledger, "a");
    expect(await refusal(bring(ledger, "t1", "a\u0000"))).toMatchObject({ code: "input-invalid" });
    expect((await ledger.findSession("a"))?.openTurnId).toBeNull();
  });
}

async function bring(ledger: Ledger, id: string, foundation: string): Promise<OpenTurn> {
  const session = await ledger.findSession("a");
  const turn: NewTurn = newTurn("a", id, session?.headTurnId ?? null);
  return ledger.openTurn({ ...turn, ...other, foundation, setupJson: `{"of":"${id}"}` });
}

async function close(turn: OpenTurn): Promise<void> {
  await turn.append(call(turn.id, 1), { tokens: [3, 4] });
  await turn.close({ status: "completed", endMs: startMs + 100 });
}
