// A fold, after the head or under a running turn.
import { newModelTurn, pathTo, type ModelSession } from "./ledger-model.ts";
import { heldOf, nothing, type Choice, type Planned, type Run } from "./run.ts";
import { foldDetails, toMessage } from "./written.ts";

export function planFold(run: Run, session: ModelSession, { how, other }: Choice): Planned {
  const { model, ledger } = run;
  const path = pathTo(model, session.headId);
  const kept = path.filter(({ fold }) => fold === null);
  const through = kept[other % Math.max(kept.length, 1)];
  const after = kept[(other % Math.max(kept.length, 1)) + 1];
  const { headId } = session;
  if (through === undefined || headId === null) return nothing;
  const id = `f${(run.made += 1)}`;
  const firstKeptId = how % 2 === 0 ? null : (after?.id ?? null);
  const fold = { throughId: through.id, firstKeptId };
  const found = heldOf(run, session);
  const isFree = session.openId === null && !session.isArchived;
  const isAllowed = found !== null || isFree;
  const work = async (): Promise<void> => {
    const lock = await ledger.lockFolding(session.id);
    if (lock === null) throw new Error("somebody folds");
    const made = {
      id,
      sessionId: session.id,
      parentTurnId: headId,
      messages: [{ message: toMessage(`summary ${id}`), tokens: 1 }],
      details: foldDetails(through.id, firstKeptId),
    };
    try {
      await (found === null ? lock.commit(made) : found.held().turn.fold(made, lock));
    } finally {
      await lock.release();
    }
  };
  if (!isAllowed) return { want: "conflict", work };
  const turn = newModelTurn(id, session.id, headId, fold);
  turn.messages.push({ text: `summary ${id}`, isReplayed: true });
  model.turns.set(id, turn);
  if (found !== null) {
    found.turn.parentId = id;
    session.isLive = true;
  }
  session.headId = id;
  session.moves.push(id);
  turn.cost += 7n;
  session.cost += 7n;
  return { want: "done", work };
}
