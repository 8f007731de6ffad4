// A turn that goes on with another model: what the ledger records, and the turn's session with that model.
import { keepFoundation } from "../assembly/kept-foundation.ts";
import { appendMessages, messagesFrom } from "../assembly/thread.ts";
import type { LeftInTurn, NextModel } from "../ledger/turn-record.ts";
import { withoutThinking } from "../message/without-thinking.ts";
import type { Route } from "../routing/decide-route.ts";
import { keptSetupOf } from "../session/kept-setup.ts";
import { toStateText } from "../session/session-state.ts";
import type { Session } from "../session/session.ts";
import { callCountOf, type Turn } from "./turn.ts";

/** The turn's session with its next model. */
export interface MovedTurn {
  /** As `Turn.before`. */
  readonly before: Session;
  readonly session: Session;
  readonly route: Route;
  readonly left: LeftInTurn;
  /** The current time. */
  readonly nowIso: string;
}

/** The session that changes its model: as it was before the turn, with everything that the turn taught. */
export function toLeave({ before, session }: Turn): Session {
  const { keptVolatile } = session.thread;
  return {
    ...session,
    headTurnId: before.headTurnId,
    thread: { ...before.thread, keptVolatile },
  };
}

/** `to`: the session of `toLeave` with the next model. */
export function moveTurn(
  turn: Turn,
  to: Session,
  { route, nowIso }: Pick<MovedTurn, "route" | "nowIso">,
): MovedTurn {
  const { id, session } = turn;
  const { model, provider } = { model: session.model.id, provider: session.model.provider };
  const isKnown = to.setupPlace.isRecorded;
  const setupPlace = isKnown ? to.setupPlace : { turnId: id, isRecorded: false, after: null };
  // What the left model had of this turn is read from the ledger when the session goes back to it.
  const otherModels = to.otherModels.map((each) =>
    each.name === session.modelName ? { ...each, setup: null } : each,
  );
  // If the turn fails, its messages are dropped, and with them the text that was kept in them.
  const { keptVolatile } = turn.before.thread;
  const before = { ...to, setupPlace, otherModels, thread: { ...to.thread, keptVolatile } };
  const since = messagesFrom(session.thread, turn.before.thread.messages.length);
  const thread = appendMessages(to.thread, since.map(withoutThinking));
  return {
    before,
    session: { ...before, thread },
    route,
    left: { through: callCountOf(turn), model, provider, name: session.modelName },
    nowIso,
  };
}

export function toNextModel({ before, session, left }: MovedTurn, turnId: string): NextModel {
  const { model, setupPlace, thread } = before;
  return {
    model: model.id,
    provider: model.provider,
    ...(!setupPlace.isRecorded && {
      foundation: keepFoundation(thread.foundation),
      setupJson: JSON.stringify(keptSetupOf(before)),
    }),
    left,
    stateJson: toStateText(session, turnId),
  };
}
