// Begins a turn: the event becomes its first message, and the session is recorded.
import { randomUUID } from "node:crypto";
import { readEvent } from "../../core/layers/event.ts";
import type { Session } from "../../core/session/session.ts";
import { stays } from "../../core/turn/turn-events.ts";
import { newTurn, type Turn } from "../../core/turn/turn.ts";
import type { Deps, TurnToRun } from "./deps.ts";
import { recordSession } from "../session/stored-session.ts";
import { toRunning, type RunningTurn } from "./running-turn.ts";

/** Most calls of a turn by default. */
export const callsMaxUsual = 50;

export async function beginTurn(
  session: Session,
  { id, event, route = stays, volatile, callsMax = callsMaxUsual }: TurnToRun,
  deps: Deps,
): Promise<RunningTurn> {
  const startIso = new Date(deps.now()).toISOString();
  const { current, context } = readEvent(event, session.role, { iso: startIso });
  const before = await recordSession(session, deps);
  deps.onRecorded?.(before);
  const turn: Turn = {
    ...newTurn,
    id: id ?? randomUUID(),
    event: {
      moment: event,
      context: { ...context, injectedAt: startIso },
      startIso,
      timeSentMs: null,
    },
    route,
    limits: { callsMax, mayCompact: true, repeatsFailedCalls: false },
    before,
    session: before,
    current: [current],
    resumed: null,
  };
  return toRunning(turn, { lease: null, volatile }, deps);
}
