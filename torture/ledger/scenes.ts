// Random actions of a writer in a session; each commit is reported before and after.
import { randomUUID } from "node:crypto";
import { sampleSession } from "../../harness/ledger-turns.ts";
import type { OpenTurn } from "../../src/core/ledger/ledger.ts";
import { factOf } from "./facts.ts";
import { compactionBetween, readPath } from "./play-compaction.ts";
import { playCalls, playTurn } from "./play-turn.ts";
import { createEvent, eventFacts, type Stage } from "./stage.ts";

/** Does something random in a session. Returns the name of a new session, if it made one. */
export async function playScene(stage: Stage, sessionId: string): Promise<string | null> {
  const { ledger, random } = stage;
  const session = await ledger.findSession(sessionId);
  if (session === null) {
    await stage.attempt({ facts: factOf.session(sessionId) }, () =>
      ledger.createSession(sampleSession(sessionId)),
    );
    return null;
  }
  if (session.openTurnId !== null) {
    await recover(stage, sessionId);
    return null;
  }
  const chance = random();
  const { headTurnId } = session;
  if (chance < 0.08 && headTurnId !== null) return fork(stage, sessionId, headTurnId);
  if (chance < 0.18 && headTurnId !== null) await compactionBetween(stage, sessionId, headTurnId);
  else if (chance < 0.25) await recordEvents(stage, sessionId);
  else await playTurn(stage, sessionId, headTurnId);
  return null;
}

/** Resumes or abandons an interrupted turn. False if there is none, or another writer was faster. */
export async function recover(stage: Stage, sessionId: string): Promise<boolean> {
  const { ledger, random } = stage;
  const unfinished = await ledger.findUnfinished(sessionId);
  if (unfinished === null) return false;
  const turnId = unfinished.turn.id;
  if (random() < 0.4) {
    const facts = {
      ...factOf.closed(turnId, "failed"),
      ...factOf.audit("turn.abandoned", turnId),
    };
    const given = await stage.attempt({ facts }, () => ledger.abandonTurn(sessionId));
    if (given) stage.count("abandoned");
    return given;
  }
  let turn: OpenTurn | undefined;
  const taken = await stage.attempt({ facts: {}, turnId, takesLease: true }, async () => {
    turn = await ledger.resumeTurn(sessionId);
  });
  if (!taken || turn === undefined) return false;
  stage.count("resumed");
  const messages = await ledger.readMessages(turnId);
  const calls = await ledger.readCalls(turnId);
  const answered = calls.findLast(({ status }) => status === "complete")?.number ?? 0;
  const tools = await ledger.readToolCalls(turnId);
  const running = {
    turn,
    calls: calls.length,
    messages: messages.length,
    staged: messages.flatMap(({ callNumber, isReplayed, message }) =>
      isReplayed && callNumber > answered ? [message] : [],
    ),
    unanswered: tools.flatMap(({ status, toolUseId }) => (status === "pending" ? [toolUseId] : [])),
  };
  await playCalls(stage, running, true);
  return true;
}

async function fork(stage: Stage, sessionId: string, head: string): Promise<string | null> {
  const { ledger, random } = stage;
  const path = await readPath(ledger, head);
  const turnId = path[Math.floor(random() * path.length)] ?? head;
  const id = `fork-${randomUUID()}`;
  const facts = {
    ...factOf.session(id),
    ...factOf.moved(id, turnId, "fork"),
    ...factOf.audit("session.forked", id),
  };
  const isDone = await stage.attempt({ facts }, () =>
    ledger.forkSession({ id, from: { turnId }, like: sessionId }),
  );
  return isDone ? id : null;
}

async function recordEvents(stage: Stage, sessionId: string): Promise<void> {
  const count = 1 + Math.floor(stage.random() * 20);
  const events = Array.from({ length: count }, () => createEvent(sessionId, null));
  await stage.attempt({ facts: eventFacts(events) }, () => stage.ledger.appendEvents(events));
}
