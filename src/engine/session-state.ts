// What a session has learned, as text for the ledger: a restart or another node goes on with the same anchors.
import { openCacheState, type CacheState } from "../core/cache/cache-state.ts";
import type { Pace } from "../core/cache/pace.ts";
import { toFoldingState } from "../core/compaction/plan/folding-state.ts";
import type { JsonText } from "../core/message/message.ts";
import type { Session } from "./session.ts";
import { keepSpent, readSpent } from "./spent.ts";

interface KeptState {
  readonly format: 1;
  readonly cache: CacheState;
  readonly pace: Pace;
  /** Absent in what was kept before folds were counted. */
  readonly folding?: unknown;
  readonly spent?: unknown;
  readonly toldVolatile?: unknown;
  /** The turn it was learned in; volatile text that was kept there is said again elsewhere. */
  readonly turnId: string | null;
  readonly keptVolatile: string | null;
}

export function toStateText(
  session: Pick<Session, "cache" | "pace" | "thread" | "folding" | "spent" | "toldVolatile">,
  turnId: string | null,
): JsonText {
  const { cache, pace, folding, toldVolatile } = session;
  const { keptVolatile } = session.thread;
  const spent = keepSpent(session.spent);
  const learned = { cache, pace, folding, spent, toldVolatile };
  const state: KeptState = { format: 1, ...learned, turnId, keptVolatile };
  return JSON.stringify(state);
}

/** What was kept, onto a session with the thread it was kept for. Another program's state is not trusted. */
export function withState(session: Session, text: JsonText | null): Session {
  const state: unknown = text === null ? null : JSON.parse(text);
  if (!isKept(state)) return session;
  const { cache, pace, turnId, keptVolatile } = state;
  const isHere = turnId === session.headTurnId;
  return {
    ...session,
    cache: { ...openCacheState(), ...cache },
    pace,
    folding: toFoldingState(state.folding),
    spent: readSpent(state.spent),
    toldVolatile: typeof state.toldVolatile === "string" ? state.toldVolatile : null,
    thread: { ...session.thread, keptVolatile: isHere ? keptVolatile : null },
  };
}

function isKept(value: unknown): value is KeptState {
  return typeof value === "object" && value !== null && "format" in value && value.format === 1;
}
