// A compaction, after the head or under a running turn.
import { newModelTurn, pathTo, type ModelSession, type ModelTurn } from "./ledger-model.ts";
import { heldOf, nothing, type Choice, type Planned, type Run } from "./run.ts";
import { compactionDetails, toMessage } from "./written.ts";

export function planCompaction(run: Run, session: ModelSession, { how, other }: Choice): Planned {
  const { model, ledger } = run;
  const path = pathTo(model, session.headId);
  const found = heldOf(run, session);
  const kept = path.filter(({ compaction }) => compaction === null);
  const ofItself = found !== null && how % 3 === 0 ? found.turn : undefined;
  const through = ofItself ?? kept[other % Math.max(kept.length, 1)];
  const after = ofItself ?? kept[(other % Math.max(kept.length, 1)) + 1];
  const { headId } = session;
  if (through === undefined || (headId === null && ofItself === undefined)) return nothing;
  const id = `f${(run.made += 1)}`;
  const firstKeptId = how % 2 === 0 && ofItself === undefined ? null : (after?.id ?? null);
  const deps = firstKeptId === null || after === undefined ? [0] : edgesOf(after);
  const firstKeptIndex = deps[other % deps.length] ?? 0;
  const compaction = { throughId: through.id, firstKeptId, firstKeptIndex };
  const isFree = session.openId === null && !session.isArchived;
  const isAllowed = found !== null || isFree;
  const work = async (): Promise<void> => {
    const lock = await ledger.lockCompaction(session.id);
    if (lock === null) throw new Error("another holder compacts");
    const made = {
      id,
      sessionId: session.id,
      parentTurnId: headId,
      messages: [{ message: toMessage(`summary ${id}`), tokens: 1 }],
      details: compactionDetails(through.id, firstKeptId, firstKeptIndex),
    };
    try {
      await (found === null ? lock.commit(made) : found.held().turn.compact(made, lock));
    } finally {
      await lock.release();
    }
  };
  if (!isAllowed) return { want: "conflict", work };
  const turn = newModelTurn(id, session.id, headId, compaction);
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

/** Where a turn can be cut: wherever no tool use waits for its answer. */
function edgesOf({ messages }: ModelTurn): readonly number[] {
  const open = new Set<string>();
  const deps = [0];
  for (const [index, { text, isReplayed }] of messages.entries()) {
    for (const word of isReplayed ? text.split(" ") : []) {
      if (word.startsWith("?")) open.add(word.slice(1));
      if (word.startsWith("!")) open.delete(word.slice(1));
    }
    if (open.size === 0) deps.push(index + 1);
  }
  return deps;
}
