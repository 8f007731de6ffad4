// Plays compactions, between turns and during one.
import { randomUUID } from "node:crypto";
import { say } from "../../harness/ledger-turns.ts";
import type { NewCompaction } from "../../src/core/ledger/compaction-record.ts";
import type { Ledger, OpenTurn } from "../../src/core/ledger/ledger.ts";
import { digestOf, factOf, type Facts } from "./facts.ts";
import { randomText, type Stage } from "./stage.ts";

export async function compactionBetween(
  stage: Stage,
  sessionId: string,
  head: string,
): Promise<void> {
  const lock = await stage.ledger.lockCompaction(sessionId);
  if (lock === null) {
    stage.count("lock taken");
    return;
  }
  const { compaction, facts } = await createFold(stage, sessionId, head);
  await stage.attempt({ facts }, () => lock.commit(compaction));
  await lock.release();
}

export async function compactionInside(stage: Stage, turn: OpenTurn): Promise<boolean> {
  const lock = await stage.ledger.lockCompaction(turn.sessionId);
  if (lock === null) {
    stage.count("lock taken");
    return true;
  }
  const { compaction, facts } = await createFold(stage, turn.sessionId, turn.parentTurnId ?? "");
  const isDone = await stage.attempt({ facts, turnId: turn.id }, () =>
    turn.compact(compaction, lock),
  );
  await lock.release();
  return isDone;
}

async function createFold(
  { ledger, random }: Stage,
  sessionId: string,
  parentTurnId: string,
): Promise<{ readonly compaction: NewCompaction; readonly facts: Facts }> {
  const path = await readPath(ledger, parentTurnId);
  const first = Math.max(1, path.length - Math.floor(random() * 4));
  const firstKeptTurnId = path[first] ?? null;
  const id = randomUUID();
  const message = say("user", randomText(random));
  const compaction: NewCompaction = {
    id,
    sessionId,
    parentTurnId,
    messages: [{ message, tokens: 9 }],
    details: {
      compactedMs: Date.now(),
      summary: "what was said",
      summarizedThroughTurnId: path[first - 1] ?? parentTurnId,
      firstKeptTurnId,
      turnsSummarized: first,
      kind: "summary",
      trigger: "manual",
      model: "m",
      provider: "p",
      tokensBefore: 10,
      tokensAfter: 5,
      summaryTokens: 3,
      inputTokens: 10,
      outputTokens: 3,
      costPicoUsd: BigInt(Math.floor(random() * 1e12)),
      durationMs: 1,
      headTurnCount: path.length,
      tailStartIndex: 0,
    },
  };
  const facts = {
    ...factOf.turn(id, "compaction"),
    ...factOf.closed(id, "completed"),
    ...factOf.message({ turnId: id, index: 0, callNumber: 0 }, digestOf(message)),
    ...factOf.compaction(id, sessionId, firstKeptTurnId),
    ...factOf.moved(sessionId, id, "fold"),
  };
  return { compaction, facts };
}

/** The turns on the path to a turn, without compactions. */
export async function readPath(ledger: Ledger, turnId: string): Promise<readonly string[]> {
  const ids: string[] = [];
  for await (const { id, type } of ledger.readTurns({ turnId })) {
    if (type === "normal") ids.push(id);
  }
  return ids;
}
