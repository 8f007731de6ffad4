// Texts that are kept once by hash: what a tool result was cut from, and the foundation from a compaction on.
import { expect, test } from "vitest";
import { hashContent } from "../../../src/core/hash.ts";
import type { Ledger } from "../../../src/core/ledger/ledger.ts";
import type { OpenLedger } from "../stores.ts";
import {
  counted,
  all,
  answers,
  asks,
  call,
  each,
  compaction,
  lines,
  newCompaction,
  open as openTurn,
  openSession,
  refusal,
  run,
  startMs,
  compactAfter,
} from "../test-kit.ts";

const whole = "the whole of it, ".repeat(1000);

export function contentsContract(open: OpenLedger): void {
  test("what a tool result was cut from is kept beside it", async () => {
    const { ledger } = await open();
    await openSession(ledger, "a");
    await runCut(ledger, "a", "t1");
    const cut = (await ledger.readMessages("t1"))[2];
    expect(cut?.message).toEqual(answers("u1", "the whole…"));
    expect(cut?.wholeHash).toBe(hashContent(whole));
    expect(await ledger.readContent(hashContent(whole))).toBe(whole);
    const others = await all(ledger.readThread({ sessionId: "a" }));
    expect(others.map(({ wholeHash }) => wholeHash === null)).toEqual([true, true, false, true]);
  });

  test("a whole text that no database can hold is kept as it can", async () => {
    const { ledger } = await open();
    await openSession(ledger, "a");
    await runCut(ledger, "a", "t1", "a\u0000\ud800b");
    const { wholeHash = null } = (await ledger.readMessages("t1"))[2] ?? {};
    expect(await ledger.readContent(wholeHash ?? "")).toBe("a\ufffd\ufffdb");
  });

  test("the same text is kept once, and goes with the last session that refers to it", async () => {
    const { ledger } = await open();
    await openSession(ledger, "a");
    await openSession(ledger, "b", { foundation: whole });
    await runCut(ledger, "a", "t1");
    await runCut(ledger, "b", "t2");
    expect((await ledger.stats()).rows["contents"]).toBe(1);
    await ledger.deleteSession("b");
    expect(await ledger.readContent(hashContent(whole))).toBe(whole);
    await ledger.deleteSession("a");
    expect((await ledger.stats()).rows["contents"]).toBe(0);
  });

  test("an export holds the texts it refers to, each once, and an import keeps them", async () => {
    const { ledger, empty } = await open();
    await openSession(ledger, "a", { foundation: "T0 to T2" });
    await runCut(ledger, "a", "t1");
    await runCut(ledger, "a", "t2");
    const details = { summarizedThroughTurnId: "t1", indexJson: '["a.ts"]', metadataJson: "{}" };
    await compaction(ledger, {
      ...newCompaction("a", "f1", "t2", details),
      foundation: "T0 to T2, later",
    });
    const written = await lines(ledger, "a");
    expect(written.filter((line) => line.startsWith('{"contents"'))).toHaveLength(3);
    await empty();
    await ledger.importSession(each(written), { isTrusted: true });
    expect(await lines(ledger, "a")).toEqual(written);
    expect(await ledger.readContent(hashContent(whole))).toBe(whole);
    expect(await ledger.readContent(hashContent("T0 to T2, later"))).toBe("T0 to T2, later");
    expect(await ledger.findCompaction({ sessionId: "a" })).toMatchObject(details);
  });

  test("a compaction may bring another foundation, which holds until one brings another", async () => {
    const { ledger } = await open();
    await openSession(ledger, "a", { foundation: "first" });
    expect(await ledger.findCompaction({ sessionId: "a" })).toBeNull();
    await run(ledger, "a", "t1");
    await compactAfter(ledger, "a", "f1", "t1", { summarizedThroughTurnId: "t1" });
    expect((await ledger.findCompaction({ sessionId: "a" }))?.foundationHash).toBeNull();
    await compaction(ledger, {
      ...newCompaction("a", "f2", "f1", { summarizedThroughTurnId: "t1" }),
      foundation: "second",
      stateJson: '{"skills":[]}',
    });
    expect(await ledger.readState("a")).toBe('{"skills":[]}');
    await run(ledger, "a", "t2");
    await compactAfter(ledger, "a", "f3", "t2", { summarizedThroughTurnId: "t2" });
    const second = hashContent("second");
    expect(await ledger.findCompaction({ sessionId: "a" })).toMatchObject({
      turnId: "f3",
      foundationHash: second,
    });
    expect((await ledger.findCompaction({ turnId: "t2" }))?.turnId).toBe("f2");
    expect(await ledger.findCompaction({ turnId: "t1" })).toBeNull();
    await ledger.forkSession({ id: "b", from: { turnId: "t2" } });
    await ledger.deleteSession("a");
    expect((await ledger.findCompaction({ sessionId: "b" }))?.foundationHash).toBe(second);
    expect(await ledger.readContent(second)).toBe("second");
    await ledger.deleteSession("b");
    expect((await ledger.stats()).rows["contents"]).toBe(0);
  });

  test("a foundation that cannot be kept to the byte is refused with its compaction", async () => {
    const { ledger } = await open();
    await openSession(ledger, "a");
    await run(ledger, "a", "t1");
    const made = newCompaction("a", "f1", "t1", { summarizedThroughTurnId: "t1" });
    expect(await refusal(compaction(ledger, { ...made, foundation: "a\u0000" }))).toMatchObject({
      code: "input-invalid",
    });
    expect(await ledger.findCompaction({ sessionId: "a" })).toBeNull();
  });
}

/** A turn whose tool result is only a part of a text. */
async function runCut(
  ledger: Ledger,
  sessionId: string,
  id: string,
  text: string = whole,
): Promise<void> {
  const turn = await openTurn(ledger, sessionId, id);
  await turn.append(call(id, 1, { reply: asks("u1") }));
  const cut = answers("u1", "the whole…");
  await turn.answer([{ ...counted(cut), whole: text }]);
  await turn.append(call(id, 2, { sent: [cut] }));
  await turn.close({ status: "completed", endMs: startMs });
}
