// Steps on turns whose holder lost them: looked at, taken over, given up, and written to by the old holder.
import type { ModelSession } from "./ledger-model.ts";
import { cancelTools } from "./plan-turn-steps.ts";
import { nothing, type Choice, type Planned, type Run } from "./run.ts";
import { callEntry } from "./written.ts";

export function planLook({ model, ledger }: Run, session: ModelSession): Planned {
  const turn = session.openId === null ? undefined : model.turns.get(session.openId);
  const isFound = turn !== undefined && !session.isLive;
  if (isFound) {
    turn.status = "interrupted";
    session.holder = null;
  }
  const wanted = isFound ? turn.id : undefined;
  return {
    want: "done",
    work: async () => {
      const unfinished = await ledger.findUnfinished(session.id);
      if (unfinished?.turn.id !== wanted) throw new Error("another turn is unfinished");
    },
  };
}

export function planResume(run: Run, session: ModelSession): Planned {
  const { model, ledger } = run;
  const turn = session.openId === null ? undefined : model.turns.get(session.openId);
  const number = run.handles.length;
  const work = async (): Promise<void> => {
    const resumed = await ledger.resumeTurn(session.id);
    run.handles.push({ number, turn: resumed, callCount: turn?.callCount ?? 0 });
  };
  if (turn === undefined || session.isLive) return { want: "conflict", work };
  turn.status = "pending";
  Object.assign(session, { holder: number, isLive: true });
  return { want: "done", work };
}

export function planAbandon({ model, ledger }: Run, session: ModelSession): Planned {
  const turn = session.openId === null ? undefined : model.turns.get(session.openId);
  const work = (): Promise<void> => ledger.abandonTurn(session.id);
  if (turn === undefined || session.isLive) return { want: "conflict", work };
  turn.status = "failed";
  cancelTools(turn);
  Object.assign(session, { openId: null, holder: null });
  return { want: "done", work };
}

/** A holder that lost its turn tries to write to it. */
export function planGhost(run: Run, { other, how }: Choice): Planned {
  const holders = new Set([...run.model.sessions.values()].map(({ holder }) => holder));
  const ghosts = run.handles.filter(({ number }) => !holders.has(number));
  const ghost = ghosts[other % Math.max(ghosts.length, 1)];
  if (ghost === undefined) return nothing;
  const { turn } = ghost;
  const entry = callEntry(turn.id, ghost.callCount + 1, {
    status: "failed",
    reply: null,
    costPicoUsd: 1_000_000n,
  });
  const endMs = (run.made += 1);
  return {
    want: "conflict",
    work: () => (how % 2 === 0 ? turn.append(entry) : turn.close({ status: "failed", endMs })),
  };
}
