// One session with everything a ledger can hold: what transfers and checks are tried on.
import type { Ledger } from "../../../src/core/ledger/ledger.ts";
import type { Message } from "../../../src/core/message/message.ts";
import {
  counted,
  answers,
  asks,
  call,
  fail,
  compaction,
  loneCall,
  newCompaction,
  newTurn,
  open,
  openSession,
  run,
  runAll,
  startMs,
  compactAfter,
} from "../test-kit.ts";
import { newAuditEvent, newEvent } from "./new-event.ts";

const odd: Message = {
  role: "assistant",
  content: [
    { type: "text", text: "NUL \u0000, half \ud800, 😀", json: '{"text":"x" ,"type":"text"}' },
    { type: "tool_use", id: "u1", name: "Run", inputJson: '{"10":1.0,"2":12345678901234567890}' },
  ],
};

/** `rich` was forked from `origin`, moved twice, compacted three times, failed once, and has a turn open that compacted itself. */
export async function writeRichSession(ledger: Ledger): Promise<void> {
  await openSession(ledger, "origin", { foundation: 'T0–T2 \\u0000 {"a":1.0}' });
  await runAll(ledger, "origin", "o1 o2");
  await fail(ledger, "origin", "o3");
  await compactAfter(ledger, "origin", "f1", "o2", { summarizedThroughTurnId: "o1" });
  await run(ledger, "origin", "o4");
  await ledger.forkSession({ id: "rich", from: { sessionId: "origin" } });
  await run(ledger, "origin", "o5");

  const turn = await ledger.openTurn(
    newTurn("rich", "r1", "o4", {
      toolset: { name: "all", tools: ["Run"], permissionsGranted: ["run"] },
      sourceEventId: "e1",
    }),
  );
  await turn.append(
    call("r1", 1, { reply: odd, stopReason: "tool_use", costPicoUsd: 9_007_199_254_740_993n }),
    { tokens: [3, 40], stateJson: '{"pace":1.0}', events: [newEvent("rich", 1)] },
  );
  const whole = "all that was done";
  await turn.answer([{ ...counted(answers("u1", "done", true), 7), whole }]);
  await turn.append(call("r1", 2, { sent: [answers("u1", "done", true)], costPicoUsd: null }));
  await turn.close({ status: "completed", endMs: startMs + 50, permissionsUsed: ["run"] }, [
    newAuditEvent("rich", 2),
  ]);
  const queued = {
    sessionId: "rich",
    mode: "collect" as const,
    eventJson: "{}",
    queuedMs: startMs,
  };
  await ledger.enqueue({ ...queued, id: "q1", model: "claude" });
  await ledger.recordCall(loneCall("rich", "w1"), { events: [newEvent("rich", 3)] });
  await run(ledger, "rich", "r2");
  await ledger.moveSession("rich", "r1");
  await run(ledger, "rich", "r3");
  await compaction(ledger, {
    ...newCompaction("rich", "f2", "r3", {
      summarizedThroughTurnId: "r1",
      firstKeptTurnId: "r3",
      indexJson: '["src/a.ts"]',
      metadataJson: '{"breakEven":3}',
    }),
    foundation: "T0–T2 after the fold",
    stateJson: '{"pace":2.0}',
  });
  await ledger.moveSession("rich", "f2");
  const left = await open(ledger, "rich", "r4");
  await left.append(call("r4", 1, { reply: asks("u9") }));
  const lock = await ledger.lockCompaction("rich");
  if (lock === null) throw new Error("the lock is taken");
  const kept = { summarizedThroughTurnId: "r4", firstKeptTurnId: "r4", firstKeptIndex: 1 };
  await left.compact(newCompaction("rich", "f3", "f2", kept), lock);
  await lock.release();
  await left.release();
}
