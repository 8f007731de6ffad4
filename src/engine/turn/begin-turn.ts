// A new turn: what happened becomes its first message, and the session is in the ledger.
import { randomUUID } from "node:crypto";
import { readEvent } from "../../core/layers/event.ts";
import type { Session } from "../../core/session/session.ts";
import { stays } from "../../core/turn/turn-events.ts";
import { newTurn, type Turn } from "../../core/turn/turn.ts";
import type { Edges, TurnToRun } from "./edges.ts";
import { recordSession } from "../session/stored-session.ts";
import { toRunning, type RunningTurn } from "./running-turn.ts";

/** A turn that asks for tools more often than this ends, where nothing else is set. */
export const callsMaxUsual = 50;

export async function beginTurn(
  session: Session,
  { id, event, route = stays, volatile, callsMax = callsMaxUsual }: TurnToRun,
  edges: Edges,
): Promise<RunningTurn> {
  const startIso = new Date(edges.now()).toISOString();
  const { current, context } = readEvent(event, session.role, { iso: startIso });
  const before = await recordSession(session, edges);
  edges.onRecorded?.(before);
  const turn: Turn = {
    ...newTurn,
    id: id ?? randomUUID(),
    event: {
      moment: event,
      context: { ...context, injectedAt: startIso },
      startIso,
      toldMs: null,
    },
    route,
    limits: { callsMax, mayCompact: true, repeatsFailedCalls: false },
    before,
    session: before,
    current: [current],
    resumed: null,
  };
  return toRunning(turn, { lease: null, volatile }, edges);
}
