// A turn of an open session: begun or resumed, and the session after it.
import type { AgentEvent } from "../../core/layers/event.ts";
import type { Section } from "../../core/layers/section.ts";
import type { Session } from "../../core/session/session.ts";
import { StrataError } from "../../core/strata-error.ts";
import type { EngineContext } from "./engine-deps.ts";
import type { Deps, TurnRun } from "../turn/deps.ts";
import { routeTurn, toRoutePart, type ReachedSession } from "./route-turn.ts";
import { toDeps, type OpenState } from "./session-deps.ts";
import { beginTurn } from "../turn/begin-turn.ts";
import { loadTurn } from "../turn/load-turn.ts";
import type { RunningTurn } from "../turn/running-turn.ts";
import type { HandleParts } from "../turn/turn-handle.ts";

export interface SessionTurn {
  readonly running: RunningTurn;
  readonly deps: Deps;
}

export interface TurnWish {
  /** Null continues the turn that a process left open. */
  readonly event: AgentEvent | null;
  /** For this turn only. */
  readonly model: string | null;
}

/** Chooses the model first. An error before the turn is open leaves the session unchanged. */
export async function withTurn<Value>(
  context: EngineContext,
  open: OpenState,
  parts: HandleParts,
  wish: TurnWish,
  run: (turn: SessionTurn) => Promise<Value>,
): Promise<Value> {
  const before = { session: open.session, reached: open.reached };
  try {
    return await run(await beginInSession(context, open, parts, wish));
  } catch (error) {
    const record = await context.deps.ledger.findSession(open.session.id).catch(() => null);
    const isOpen = record?.openTurnId === parts.handle.turnId;
    if (wish.event !== null && !isOpen) Object.assign(open, withRecord(before, open.session));
    throw error;
  }
}

async function beginInSession(
  context: EngineContext,
  open: OpenState,
  parts: HandleParts,
  { event, model }: TurnWish,
): Promise<SessionTurn> {
  const { world } = open;
  const volatile = async (): Promise<readonly Section[]> => world.volatile?.(open.calling) ?? [];
  const more = { volatile, ...(await limitsOf(context)) };
  if (event === null) {
    const record = await context.deps.ledger.findSession(open.session.id);
    parts.identify(record?.openTurnId ?? "");
    const deps = await toDeps(context, open, { parts });
    return { running: await loadTurn(open.session, more, deps), deps };
  }
  const { route, ...routed } = await routeTurn(context, open, world, { event, model });
  Object.assign(open, routed);
  parts.tell(toRoutePart(open.session, route));
  const deps = await toDeps(context, open, { parts });
  const turn = { id: parts.handle.turnId, event, route, ...more };
  return { running: await beginTurn(open.session, turn, deps), deps };
}

/** The session continues from the end of the turn. */
export function settleTurn(open: OpenState, run: TurnRun): TurnRun {
  open.session = run.session;
  open.lastEnd = run.end;
  return run;
}

function withRecord(
  before: ReachedSession,
  { isRecorded, headTurnId, openedMs }: Session,
): ReachedSession {
  return { ...before, session: { ...before.session, isRecorded, headTurnId, openedMs } };
}

async function limitsOf({ readConfig }: EngineContext): Promise<{ readonly callsMax?: number }> {
  const { callsMax } = await readConfig();
  if (callsMax === undefined) return {};
  if (Number.isSafeInteger(callsMax) && callsMax >= 1) return { callsMax };
  throw new StrataError(
    "input-invalid",
    `callsMax is ${String(callsMax)}, and a turn needs at least one call`,
    "give a whole number from 1, or leave it out",
  );
}
