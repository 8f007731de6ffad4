// The end of a turn: the next session value, and what the ledger records.
import type { TurnEnd } from "../ledger/turn-record.ts";
import { toStateText } from "../session/session-state.ts";
import type { Session } from "../session/session.ts";
import type { Turn } from "./turn.ts";
import type { TurnEnding } from "./turn-ending.ts";

export interface ClosedTurn {
  /** Keeps what was learned. Drops the messages of a failed turn: a tool use may lack its answer. */
  readonly session: Session;
  readonly end: TurnEnd;
}

export function toClosed(
  { id, before, session }: Turn,
  how: TurnEnding,
  endMs: number,
): ClosedTurn {
  if (how === "done") {
    const setupPlace = { ...session.setupPlace, isRecorded: true };
    return {
      session: { ...session, headTurnId: id, setupPlace },
      end: { status: "completed", endMs },
    };
  }
  const { headTurnId, thread } = before;
  const next = { ...session, headTurnId, thread };
  const stateJson = toStateText(next, headTurnId);
  return { session: next, end: { status: "failed", endMs, reason: how, stateJson } };
}
