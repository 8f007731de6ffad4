// Steps on whole sessions: made, forked, moved, put away, deleted, and a crash of the process that works on them.
import { newModelSession, removeSessions, withWorkers, type ModelSession } from "./ledger-model.ts";
import { nothing, type Choice, type Planned, type Run } from "./run.ts";

export function planCreate({ model, ledger }: Run, { other, how }: Choice, id: string): Planned {
  const boss = how % 4 === 0 ? `s${other % 4}` : id;
  const parentId = boss !== id && model.sessions.has(boss) ? boss : null;
  const work = (): Promise<unknown> =>
    ledger.createSession({
      id,
      agent: "random",
      role: "unified",
      model: "m",
      provider: "p",
      ...(parentId === null ? {} : { parent: { sessionId: parentId } }),
    });
  if (model.sessions.has(id)) return { want: "conflict", work };
  model.sessions.set(id, newModelSession(id, parentId, "opened"));
  return { want: "done", work };
}

/** The working process is gone; its handles stay as ghosts. */
export function planCrash(run: Run): Planned {
  for (const session of run.model.sessions.values()) session.isLive = false;
  const [first, second] = run.world.nodes;
  run.ledger = run.ledger === first ? second : first;
  run.world.passLease();
  return nothing;
}

export function planFork({ model, ledger }: Run, { other, how }: Choice, id: string): Planned {
  const like = [...model.sessions.values()][other % Math.max(model.sessions.size, 1)];
  if (like === undefined) return nothing;
  const turn = [...model.turns.values()][other % Math.max(model.turns.size, 1)];
  const from = how % 2 === 0 || turn === undefined ? { sessionId: like.id } : { turnId: turn.id };
  const headId = "turnId" in from ? from.turnId : like.headId;
  const work = (): Promise<unknown> => ledger.forkSession({ id, from, like: like.id });
  const isFree = !model.sessions.has(id);
  const isDone = headId === null || model.turns.get(headId)?.status === "completed";
  if (!isFree || !isDone) return { want: "conflict", work };
  model.sessions.set(id, newModelSession(id, null, headId ?? "fork", headId));
  return { want: "done", work };
}

export function planMove(
  { model, ledger }: Run,
  session: ModelSession,
  { other }: Choice,
): Planned {
  const turn = [...model.turns.values()][other % Math.max(model.turns.size, 1)];
  if (turn === undefined) return nothing;
  const work = (): Promise<unknown> => ledger.moveSession(session.id, turn.id);
  if (session.openId !== null || turn.status !== "completed") return { want: "conflict", work };
  session.headId = turn.id;
  session.moves.push(turn.id);
  return { want: "done", work };
}

export function planArchive({ ledger }: Run, session: ModelSession, { how }: Choice): Planned {
  const isArchived = how % 2 === 0;
  const work = (): Promise<unknown> =>
    ledger.setStatus(session.id, isArchived ? "archived" : "active");
  const isNews = session.isArchived !== isArchived;
  if (isNews && session.openId !== null) return { want: "conflict", work };
  session.isArchived = isArchived;
  return { want: "done", work };
}

export function planDelete({ model, ledger }: Run, session: ModelSession): Planned {
  const gone = withWorkers(model, session.id);
  const work = (): Promise<unknown> => ledger.deleteSession(session.id);
  if (gone.some(({ openId, isLive }) => openId !== null && isLive))
    return { want: "conflict", work };
  removeSessions(model, gone);
  return { want: "done", work };
}
