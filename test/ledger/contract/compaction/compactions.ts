// Compactions: a compaction is a turn after the head. It hides what it summarised and keeps what it names.
import { expect, test } from "vitest";
import { createLedger } from "../../../../src/edge/stores/ledger/create-ledger.ts";
import type { OpenLedger } from "../../stores.ts";
import {
  answers,
  asks,
  call,
  counted,
  fail,
  compaction,
  newCompaction,
  open as openTurn,
  openSession,
  run,
  runAll,
  startMs,
  thread,
  turnIds,
  user,
  openWith,
  compactAfter,
} from "../../test-kit.ts";

export function compactionsContract(open: OpenLedger): void {
  test("a compacted thread is the summary, then what was kept, then what followed (C-11, X-33)", async () => {
    const { ledger, reopen } = await open();
    await openWith(ledger, "a", "t1 t2 t3 t4");
    await compactAfter(ledger, "a", "f1", "t4", {
      summarizedThroughTurnId: "t2",
      firstKeptTurnId: "t3",
    });
    await run(ledger, "a", "t5");
    expect(await thread(await reopen(), "a")).toEqual([
      "summary of f1",
      "question of t3",
      "answer of t3",
      "question of t4",
      "answer of t4",
      "question of t5",
      "answer of t5",
    ]);
    expect(await turnIds(ledger, "a")).toEqual(["t1", "t2", "t3", "t4", "f1", "t5"]);
    expect(await ledger.findTurn("f1")).toMatchObject({
      type: "compaction",
      status: "completed",
      parentTurnId: "t4",
    });
    expect((await ledger.findTurn("t5"))?.parentTurnId).toBe("f1");
  });

  test("without a first kept turn, everything after what was summarised is kept (C-11)", async () => {
    const { ledger } = await open();
    await openWith(ledger, "a", "t1 t2 t3");
    await compactAfter(ledger, "a", "f1", "t3", { summarizedThroughTurnId: "t2" });
    expect(await thread(ledger, "a")).toEqual(["summary of f1", "question of t3", "answer of t3"]);
  });

  test("a compaction may keep nothing but its summary", async () => {
    const { ledger } = await open();
    await openWith(ledger, "a", "t1 t2");
    await compactAfter(ledger, "a", "f1", "t2", { summarizedThroughTurnId: "t2" });
    expect(await thread(ledger, "a")).toEqual(["summary of f1"]);
    await run(ledger, "a", "t3");
    expect(await thread(ledger, "a")).toEqual(["summary of f1", "question of t3", "answer of t3"]);
  });

  test("what a compaction hides is still there in the whole thread", async () => {
    const { ledger } = await open();
    await openWith(ledger, "a", "t1 t2");
    await compactAfter(ledger, "a", "f1", "t2", { summarizedThroughTurnId: "t2" });
    await run(ledger, "a", "t3");
    expect(await thread(ledger, "a", { whole: true })).toEqual([
      "question of t1",
      "answer of t1",
      "question of t2",
      "answer of t2",
      "question of t3",
      "answer of t3",
    ]);
    expect(await thread(ledger, { turnId: "t2" })).toHaveLength(4);
  });

  test("the latest compaction counts: a second one over the first replaces it (X-33)", async () => {
    const { ledger } = await open();
    await openWith(ledger, "a", "t1 t2 t3");
    await compactAfter(ledger, "a", "f1", "t3", {
      summarizedThroughTurnId: "t1",
      firstKeptTurnId: "t2",
    });
    await runAll(ledger, "a", "t4 t5");
    await compactAfter(ledger, "a", "f2", "t5", {
      summarizedThroughTurnId: "t3",
      firstKeptTurnId: "t4",
    });
    expect(await thread(ledger, "a")).toEqual([
      "summary of f2",
      "question of t4",
      "answer of t4",
      "question of t5",
      "answer of t5",
    ]);
    expect(await turnIds(ledger, "a")).toEqual(["t1", "t2", "t3", "f1", "t4", "t5", "f2"]);
  });

  test("a second compaction may keep turns from before the first one", async () => {
    const { ledger } = await open();
    await openWith(ledger, "a", "t1 t2 t3");
    await compactAfter(ledger, "a", "f1", "t3", {
      summarizedThroughTurnId: "t1",
      firstKeptTurnId: "t2",
    });
    await run(ledger, "a", "t4");
    await compactAfter(ledger, "a", "f2", "t4", {
      summarizedThroughTurnId: "t2",
      firstKeptTurnId: "t3",
    });
    expect(await thread(ledger, "a")).toEqual([
      "summary of f2",
      "question of t3",
      "answer of t3",
      "question of t4",
      "answer of t4",
    ]);
  });

  test("kept turns are kept with what tools answered (B-01)", async () => {
    const { ledger } = await open();
    await openSession(ledger, "a");
    await run(ledger, "a", "t1");
    const turn = await openTurn(ledger, "a", "t2");
    await turn.append(call("t2", 1, { reply: asks("u1") }));
    await turn.answer([counted(answers("u1", "42"))]);
    await turn.append(call("t2", 2, { sent: [answers("u1", "42")] }));
    await turn.close({ status: "completed", endMs: startMs });
    await compactAfter(ledger, "a", "f1", "t2", {
      summarizedThroughTurnId: "t1",
      firstKeptTurnId: "t2",
    });
    expect(await thread(ledger, "a")).toEqual([
      "summary of f1",
      "question of t2",
      "?u1",
      "!u1 42",
      "answer of t2",
    ]);
  });

  test("failed turns between kept ones stay hidden", async () => {
    const { ledger } = await open();
    await openWith(ledger, "a", "t1 t2");
    await fail(ledger, "a", "t3");
    await run(ledger, "a", "t4");
    await compactAfter(ledger, "a", "f1", "t4", {
      summarizedThroughTurnId: "t1",
      firstKeptTurnId: "t2",
    });
    expect(await thread(ledger, "a")).toEqual([
      "summary of f1",
      "question of t2",
      "answer of t2",
      "question of t4",
      "answer of t4",
    ]);
  });

  test("a fork of a compacted session reads the compaction; one from before it does not", async () => {
    const { ledger } = await open();
    await openWith(ledger, "a", "t1 t2 t3");
    await compactAfter(ledger, "a", "f1", "t3", {
      summarizedThroughTurnId: "t2",
      firstKeptTurnId: "t3",
    });
    await ledger.forkSession({ id: "after", from: { sessionId: "a" } });
    await ledger.forkSession({ id: "before", from: { turnId: "t2" } });
    await run(ledger, "after", "x1");
    expect(await thread(ledger, "after")).toEqual([
      "summary of f1",
      "question of t3",
      "answer of t3",
      "question of x1",
      "answer of x1",
    ]);
    expect(await thread(ledger, "before")).toHaveLength(4);
  });

  test("a fork may compact what it shares, and what it shares is not changed for others", async () => {
    const { ledger } = await open();
    await openWith(ledger, "a", "t1 t2 t3");
    await ledger.forkSession({ id: "b", from: { turnId: "t3" } });
    await run(ledger, "b", "b1");
    await compactAfter(ledger, "b", "f1", "b1", {
      summarizedThroughTurnId: "t2",
      firstKeptTurnId: "t3",
    });
    expect(await thread(ledger, "b")).toEqual([
      "summary of f1",
      "question of t3",
      "answer of t3",
      "question of b1",
      "answer of b1",
    ]);
    expect(await thread(ledger, "a")).toHaveLength(6);
  });

  test("what a compaction hides is not read", async () => {
    const { ledger, database } = await open();
    await openWith(ledger, "a", Array.from({ length: 40 }, (_, n) => `t${n}`).join(" "));
    await compactAfter(ledger, "a", "f1", "t39", {
      summarizedThroughTurnId: "t37",
      firstKeptTurnId: "t38",
    });
    let rows = 0;
    const counting = await createLedger({
      ...database,
      query: async (sql, values) => {
        const found = await database.query(sql, values);
        rows += found.length;
        return found;
      },
    });
    expect(await thread(counting, "a")).toHaveLength(5);
    expect(rows).toBeLessThan(20);
  });

  test("compactions are read the latest first, with all their figures (X-32)", async () => {
    const { ledger } = await open();
    await openWith(ledger, "a", "t1 t2");
    await compactAfter(ledger, "a", "f1", "t2", {
      summarizedThroughTurnId: "t1",
      compactedMs: 1000,
    });
    await compactAfter(ledger, "a", "f2", "f1", {
      summarizedThroughTurnId: "t2",
      compactedMs: 2000,
    });
    const [latest, ...older] = await ledger.readCompactions("a");
    expect(latest).toEqual({
      turnId: "f2",
      sessionId: "a",
      compactedMs: 2000,
      summary: "summary of f2",
      summarizedThroughTurnId: "t2",
      firstKeptTurnId: null,
      firstKeptIndex: 0,
      turnsSummarized: 1,
      kind: "summary",
      trigger: "manual",
      model: "haiku",
      provider: "anthropic",
      tokensBefore: 1000,
      tokensAfter: 300,
      summaryTokens: 50,
      inputTokens: 900,
      outputTokens: 60,
      costPicoUsd: 77n,
      durationMs: 40,
      headTurnCount: 3,
      tailStartIndex: 2,
      indexJson: null,
      metadataJson: null,
      foundationHash: null,
    });
    expect(older.map(({ turnId }) => turnId)).toEqual(["f1"]);
    expect(await ledger.readCompactions("a", 1)).toHaveLength(1);
    expect(await ledger.readCompactions("b")).toEqual([]);
  });

  test("operators query compactions_v1 as they always did (N-25)", async () => {
    const { ledger, database } = await open();
    await openWith(ledger, "a", "t1 t2");
    await compactAfter(ledger, "a", "f1", "t2", { summarizedThroughTurnId: "t1" });
    const rows = await database.query(
      "SELECT session_id, compacted_at, head_turn_count, tail_start_index, summary, model_used, input_tokens, output_tokens FROM compactions_v1 WHERE session_id = ? ORDER BY compacted_at DESC LIMIT 1",
      ["a"],
    );
    expect(rows).toEqual([
      {
        session_id: "a",
        compacted_at: startMs + 200,
        head_turn_count: 3,
        tail_start_index: 2,
        summary: "summary of f1",
        model_used: "haiku",
        input_tokens: 900,
        output_tokens: 60,
      },
    ]);
  });

  test("a summary is sent as it was written, and shown to operators as their database can", async () => {
    const { ledger } = await open();
    await openSession(ledger, "a");
    await run(ledger, "a", "t1");
    const made = newCompaction("a", "f1", "t1", {
      summarizedThroughTurnId: "t1",
      summary: "a\u0000\ud800",
    });
    await compaction(ledger, { ...made, messages: [counted(user("a\u0000\ud800"))] });
    expect(await thread(ledger, "a")).toEqual(["a\u0000\ud800"]);
    expect((await ledger.readCompactions("a"))[0]?.summary).toBe("a\ufffd\ufffd");
  });
}
