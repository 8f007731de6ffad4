// Plays a turn, commit by commit.
import { randomUUID } from "node:crypto";
import { answerTool, sampleCall, sampleSession, say } from "../../harness/ledger-turns.ts";
import type { Random } from "../../harness/random-message.ts";
import type { OpenTurn } from "../../src/core/ledger/ledger.ts";
import type { Message } from "../../src/core/message/message.ts";
import { digestOf, factOf, type Facts } from "./facts.ts";
import { compactionInside } from "./play-compaction.ts";
import { createEvent, eventFacts, randomText, type Stage } from "./stage.ts";

/** The state of a running turn. */
export interface Running {
  readonly turn: OpenTurn;
  calls: number;
  messages: number;
  staged: Message[];
  unanswered: string[];
}

export async function playTurn(
  stage: Stage,
  sessionId: string,
  head: string | null,
): Promise<void> {
  const { ledger, random } = stage;
  const id = randomUUID();
  const question = say("user", randomText(random));
  const { agent: _agent, id: _id, ...like } = sampleSession(sessionId);
  let turn: OpenTurn | undefined;
  const facts = {
    ...factOf.turn(id, "normal"),
    ...factOf.message({ turnId: id, index: 0, callNumber: 1 }, digestOf(question)),
  };
  const opened = await stage.attempt({ facts, turnId: id, takesLease: true }, async () => {
    turn = await ledger.openTurn({
      ...like,
      id,
      sessionId,
      parentTurnId: head,
      startMs: Date.now(),
      messages: [{ message: question, tokens: 10 }],
    });
  });
  if (!opened || turn === undefined) return;
  await playCalls(stage, { turn, calls: 0, messages: 1, staged: [question], unanswered: [] });
}

/** Runs calls until the turn is closed, released or lost. */
export async function playCalls(stage: Stage, running: Running, isResumed = false): Promise<void> {
  const { random } = stage;
  const { turn } = running;
  for (;;) {
    if (running.unanswered.length > 0 && !(await answer(stage, running))) return;
    if (random() < 0.05 && turn.parentTurnId !== null && !(await compactionInside(stage, turn)))
      return;
    if (random() < 0.03) {
      await stage.attempt({ facts: {}, turnId: turn.id }, () => turn.release());
      return;
    }
    if (isResumed || random() < 0.02) await stage.pause(turn.sessionId);
    if (!isResumed && random() < 0.08) stage.stall(turn.sessionId);
    const isLast = random() < 0.45;
    if (!(await call(stage, running, isLast))) return;
    if (!isLast) continue;
    await close(stage, turn);
    return;
  }
}

async function call(stage: Stage, running: Running, isLast: boolean): Promise<boolean> {
  const { random } = stage;
  const { turn, staged } = running;
  const number = running.calls + 1;
  const status = isLast
    ? "complete"
    : random() < 0.1
      ? "failed"
      : random() < 0.1
        ? "partial"
        : "complete";
  const uses = isLast || status !== "complete" ? [] : randomUses(random);
  const text = { type: "text" as const, text: randomText(random) };
  const reply: Message | null =
    status === "failed" ? null : { role: "assistant", content: [text, ...uses] };
  const costPicoUsd = BigInt(Math.floor(random() * 1e12));
  const recorded = reply === null ? [] : [reply];
  const events = random() < 0.3 ? [createEvent(turn.sessionId, turn.id)] : [];
  const facts = {
    ...factOf.call(turn.id, number, status, String(costPicoUsd)),
    ...messageFacts(running, number, recorded),
    ...Object.assign({}, ...uses.map(({ id, name }) => factOf.tool(turn.id, number, id, name))),
    ...eventFacts(events),
  };
  const sent = [...staged];
  const entry = sampleCall({ turnId: turn.id, number, sent, reply, status, costPicoUsd });
  const isDone = await stage.attempt({ facts, turnId: turn.id }, () =>
    turn.append(entry, { tokens: [], stateJson: `{"call":${number}}`, events }),
  );
  running.calls = number;
  running.messages += recorded.length;
  // Messages of a failed call are sent again.
  if (status === "complete") running.staged = [];
  running.unanswered = uses.map(({ id }) => id);
  return isDone;
}

function randomUses(
  random: Random,
): { type: "tool_use"; id: string; name: string; inputJson: string }[] {
  return Array.from({ length: Math.floor(random() * 3) }, () => ({
    type: "tool_use",
    id: `toolu_${randomUUID()}`,
    name: "Read",
    inputJson: '{"path":"a"}',
  }));
}

async function answer(stage: Stage, running: Running): Promise<boolean> {
  const { random } = stage;
  const { turn, calls, unanswered } = running;
  const answers = unanswered.map((id) => ({ id, isError: random() < 0.2 }));
  const messages = answers.map(({ id, isError }) => answerTool(id, randomText(random), isError));
  const facts = {
    ...messageFacts(running, calls + 1, messages),
    ...Object.assign(
      {},
      ...answers.map(({ id, isError }) =>
        factOf.answered(turn.id, calls, id, isError ? "failed" : "succeeded"),
      ),
    ),
  };
  const isDone = await stage.attempt({ facts, turnId: turn.id }, () =>
    turn.answer(messages.map((message) => ({ message, tokens: 5 }))),
  );
  running.messages += messages.length;
  running.staged.push(...messages);
  running.unanswered = [];
  return isDone;
}

async function close(stage: Stage, turn: OpenTurn): Promise<void> {
  const status = stage.random() < 0.12 ? "failed" : "completed";
  const events = stage.random() < 0.3 ? [createEvent(turn.sessionId, turn.id)] : [];
  const facts = {
    ...factOf.closed(turn.id, status),
    ...(status === "completed" ? factOf.moved(turn.sessionId, turn.id, "turn") : {}),
    ...eventFacts(events),
  };
  await stage.attempt({ facts, turnId: turn.id }, () =>
    turn.close({ status, endMs: Date.now() }, events),
  );
}

function messageFacts(
  { turn, messages }: Running,
  callNumber: number,
  added: readonly Message[],
): Facts {
  return Object.assign(
    {},
    ...added.map((message, offset) =>
      factOf.message({ turnId: turn.id, index: messages + offset, callNumber }, digestOf(message)),
    ),
  );
}
