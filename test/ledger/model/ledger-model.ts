// The ledger as simple as can be: turns that know their parent, sessions that point at one. No branches, no places,
// no transactions. What the real one must agree with after every step.

export interface ModelTurn {
  readonly id: string;
  /** Who wrote it. */
  readonly sessionId: string;
  parentId: string | null;
  status: "pending" | "completed" | "failed" | "interrupted";
  readonly messages: { readonly text: string; readonly isReplayed: boolean }[];
  /** How many of the last messages wait for the call that sends them. */
  staged: string[];
  callCount: number;
  cost: bigint;
  readonly tools: { readonly id: string; status: string }[];
  /** Null for a turn that is no compaction. */
  readonly compaction: ModelCompaction | null;
}

export interface ModelCompaction {
  readonly firstKeptId: string | null;
  /** Messages of the first kept turn before this one are compacted, too. */
  readonly firstKeptIndex: number;
  readonly throughId: string;
}

export interface ModelSession {
  readonly id: string;
  readonly parentId: string | null;
  isArchived: boolean;
  headId: string | null;
  openId: string | null;
  /** The handle that may write to the open turn; null if none may. */
  holder: number | null;
  /** Whether the holder's lease has not run out. */
  isLive: boolean;
  turnCount: number;
  cost: bigint;
  readonly moves: string[];
}

export interface LedgerModel {
  readonly sessions: Map<string, ModelSession>;
  readonly turns: Map<string, ModelTurn>;
}

export function createModel(): LedgerModel {
  return { sessions: new Map(), turns: new Map() };
}

export function newModelSession(
  id: string,
  parentId: string | null,
  move: string,
  headId: string | null = null,
): ModelSession {
  return {
    id,
    parentId,
    isArchived: false,
    headId,
    openId: null,
    holder: null,
    isLive: false,
    turnCount: 0,
    cost: 0n,
    moves: [move],
  };
}

export function newModelTurn(
  id: string,
  sessionId: string,
  parentId: string | null,
  compaction: ModelCompaction | null = null,
): ModelTurn {
  return {
    id,
    sessionId,
    parentId,
    status: compaction === null ? "pending" : "completed",
    messages: [],
    staged: [],
    callCount: 0,
    cost: 0n,
    tools: [],
    compaction,
  };
}

/** From the root to a turn. */
export function pathTo({ turns }: LedgerModel, id: string | null): readonly ModelTurn[] {
  const path: ModelTurn[] = [];
  for (let at = id; at !== null;) {
    const turn = turns.get(at);
    if (turn === undefined) throw new Error(`the model lost turn ${at}`);
    path.unshift(turn);
    at = turn.parentId;
  }
  return path;
}

/** What a model would be shown: the latest summary, what it kept, what followed. */
export function threadTo(model: LedgerModel, id: string | null, whole: boolean): readonly string[] {
  const path = pathTo(model, id);
  const latest = whole ? undefined : path.findLast(({ compaction }) => compaction !== null);
  const compaction = latest?.compaction ?? null;
  const turns = path.slice(firstKept(path, compaction)).filter((turn) => turn.compaction === null);
  const shown = turns.flatMap(({ id: turnId, messages }) =>
    turnId === compaction?.firstKeptId ? messages.slice(compaction.firstKeptIndex) : messages,
  );
  return [...(latest?.messages ?? []), ...shown].flatMap(({ text, isReplayed }) =>
    isReplayed ? [text] : [],
  );
}

function firstKept(path: readonly ModelTurn[], compaction: ModelCompaction | null): number {
  if (compaction === null) return 0;
  const { firstKeptId, throughId } = compaction;
  if (firstKeptId === null) return path.findIndex(({ id }) => id === throughId) + 1;
  const at = path.findIndex(({ id }) => id === firstKeptId);
  // A turn that was compacted while it ran and is not on the path: what follows the compaction is shown.
  return at === -1 ? path.findIndex((turn) => turn.compaction === compaction) : at;
}

/** The session and those it asked for, directly or not. */
export function withWorkers({ sessions }: LedgerModel, id: string): readonly ModelSession[] {
  const found = new Set([id]);
  for (let size = 0; size < found.size;) {
    size = found.size;
    for (const each of sessions.values()) {
      if (each.parentId !== null && found.has(each.parentId)) found.add(each.id);
    }
  }
  return [...sessions.values()].filter((each) => found.has(each.id));
}

/** Removes sessions, and every turn that none of the others wrote or stands on. */
export function removeSessions(model: LedgerModel, gone: readonly ModelSession[]): void {
  for (const { id } of gone) model.sessions.delete(id);
  const kept = new Set<string>();
  const keep = (id: string | null): void => {
    for (const turn of pathTo(model, id)) kept.add(turn.id);
  };
  for (const { moves } of model.sessions.values()) {
    for (const move of moves) keep(model.turns.has(move) ? move : null);
  }
  for (const turn of model.turns.values()) if (model.sessions.has(turn.sessionId)) keep(turn.id);
  for (const id of model.turns.keys()) if (!kept.has(id)) model.turns.delete(id);
}
