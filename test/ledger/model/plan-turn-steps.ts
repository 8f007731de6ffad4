// Steps in a turn that is held.
import { newModelTurn, type ModelSession, type ModelTurn } from "./ledger-model.ts";
import { heldOf, nothing, type Choice, type Planned, type Run } from "./run.ts";
import { callEntry, toMessage } from "./written.ts";

export function planOpen(run: Run, session: ModelSession, { how }: Choice): Planned {
  const { model, ledger } = run;
  const id = `t${(run.made += 1)}`;
  const parentId = how === 11 ? "elsewhere" : session.headId;
  const question = `question of ${id}`;
  const number = run.handles.length;
  const work = async (): Promise<void> => {
    const turn = await ledger.openTurn({
      id,
      sessionId: session.id,
      parentTurnId: parentId,
      model: "m",
      provider: "p",
      role: "unified",
      startMs: 1,
      messages: [{ message: toMessage(question), tokens: 1 }],
    });
    run.handles.push({ number, turn, callCount: 0 });
  };
  const isFree = !session.isArchived && session.openId === null && parentId === session.headId;
  if (!isFree) return { want: "conflict", work };
  const turn = newModelTurn(id, session.id, parentId);
  turn.messages.push({ text: question, isReplayed: true });
  turn.staged.push(question);
  model.turns.set(id, turn);
  Object.assign(session, { openId: id, holder: number, isLive: true });
  return { want: "done", work };
}

/** A whole turn in one step, so that threads grow. */
export function planTurn(run: Run, session: ModelSession, step: Choice): Planned {
  const opened = planOpen(run, session, { ...step, how: 0 });
  if (opened.want !== "done") return opened;
  const appended = planAppend(run, session, { ...step, how: 0 });
  const closed = planClose(run, session, { ...step, how: 0 });
  const work = async (): Promise<void> => {
    for (const part of [opened, appended, closed]) await part.work();
  };
  return { want: "done", work };
}

export function planAppend(run: Run, session: ModelSession, { how, other }: Choice): Planned {
  const found = heldOf(run, session);
  if (found === null) return nothing;
  const { turn, held } = found;
  session.isLive = true;
  const number = turn.callCount + 1;
  const status = how === 4 ? "partial" : how === 5 ? "failed" : "complete";
  const ids = how === 2 ? 1 : how === 3 ? 2 : 0;
  const uses = Array.from({ length: ids }, () => `u${(run.made += 1)}`);
  const waiting = turn.tools.filter((tool) => tool.status === "pending");
  // Answers may come with the call that sends them.
  const fresh = other % 3 === 0 ? [] : waiting.map(({ id }) => `!${id} late`);
  const sent = [...turn.staged, ...fresh];
  const reply =
    uses.length === 0 ? `answer ${number} of ${turn.id}` : uses.map((id) => `?${id}`).join(" ");
  const costPicoUsd = BigInt(how * 100 + 1);
  const entry = callEntry(turn.id, number, {
    status,
    costPicoUsd,
    sent: sent.map((text) => toMessage(text)),
    reply: status === "failed" ? null : toMessage(reply),
  });
  if (status !== "failed") {
    const isReplayed = status === "complete";
    for (const text of [...fresh, reply]) turn.messages.push({ text, isReplayed });
    for (const tool of waiting) if (fresh.length > 0) tool.status = "succeeded";
    const toolStatus = isReplayed ? "pending" : "cancelled";
    for (const id of uses) turn.tools.push({ id, status: toolStatus });
    if (isReplayed) turn.staged = [];
  }
  turn.callCount = number;
  turn.cost += costPicoUsd;
  session.cost += costPicoUsd;
  return {
    want: "done",
    work: async () => {
      const handle = held();
      await handle.turn.append(entry);
      // Twice is once.
      if (other % 4 === 0) await handle.turn.append(entry);
      handle.callCount = number;
    },
  };
}

export function planAnswer(run: Run, session: ModelSession, { how, other }: Choice): Planned {
  const found = heldOf(run, session);
  if (found === null) return nothing;
  const { turn, held } = found;
  const tool = turn.tools.find(({ status }) => status === "pending");
  if (tool === undefined) {
    const text = "!unasked";
    const message = toMessage(text);
    return { want: "input-invalid", work: () => held().turn.answer([{ message, tokens: 1 }]) };
  }
  session.isLive = true;
  const isError = how % 3 === 0;
  const text = `!${tool.id} ${how}`;
  tool.status = isError ? "failed" : "succeeded";
  turn.messages.push({ text, isReplayed: true });
  turn.staged.push(text);
  const message = toMessage(text, isError);
  return {
    want: "done",
    work: async () => {
      await held().turn.answer([{ message, tokens: 1 }]);
      if (other % 4 === 0) await held().turn.answer([{ message, tokens: 1 }]);
    },
  };
}

export function planClose(run: Run, session: ModelSession, { how }: Choice): Planned {
  const found = heldOf(run, session);
  if (found === null) return nothing;
  const { turn, held } = found;
  const status = how % 4 === 3 ? "failed" : "completed";
  const endMs = (run.made += 1);
  const work = (): Promise<void> => held().turn.close({ status, endMs });
  const waits = turn.tools.some((tool) => tool.status === "pending");
  if (status === "completed" && waits) return { want: "input-invalid", work };
  turn.status = status;
  Object.assign(session, { openId: null, holder: null, isLive: false });
  if (status === "failed") cancelTools(turn);
  else {
    session.headId = turn.id;
    session.turnCount += 1;
    session.moves.push(turn.id);
  }
  return { want: "done", work };
}

export function cancelTools(turn: ModelTurn): void {
  for (const tool of turn.tools) if (tool.status === "pending") tool.status = "cancelled";
}

export function planRelease(run: Run, session: ModelSession): Planned {
  const found = heldOf(run, session);
  if (found === null) return nothing;
  found.turn.status = "interrupted";
  Object.assign(session, { holder: null, isLive: false });
  return { want: "done", work: () => found.held().turn.release() };
}
