// One conversation of a wrapped model.
import type { Session } from "../../core/session/session.ts";
import type { RunningTurn } from "../../engine/turn/running-turn.ts";

export interface Conversation {
  session: Session;
  /** The open turn: its tools run, or its last call failed. */
  turn: RunningTurn | null;
  /** Whether one of its calls is running. */
  isBusy: boolean;
}

/** With what its open turn has added. */
export function sessionOf({ turn, session }: Conversation): Session {
  return turn?.turn.session ?? session;
}
