// Begins a turn, or takes over one that a process left open.
import { randomUUID } from "node:crypto";
import { readEvent } from "../../core/layers/event.ts";
import type { Session } from "../../core/session/session.ts";
import { openTurn } from "../../core/turn/turn.ts";
import type { Deps, TurnToRun, TurnToResume } from "./deps.ts";
import { recordSession } from "../session/stored-session.ts";
import { toRunning, type RunningTurn } from "./running-turn.ts";
import type { Ledger } from "../../core/ledger/ledger.ts";
import { SessionBusy } from "../../core/ledger/queue-record.ts";
import type { TurnRecord } from "../../core/ledger/turn-record.ts";
import { StrataError } from "../../core/strata-error.ts";
import { toTurnCompaction, type TurnCompaction } from "../../core/turn/done-in-turn.ts";
import { restoreTurn, type RecordedTurn } from "../../core/turn/restore-turn.ts";

/** Most calls of a turn by default. */
export const callsMaxUsual = 50;

/** The event becomes the first message, and the session is recorded. */
export async function beginTurn(
  session: Session,
  { id, event, route, volatile, callsMax = callsMaxUsual, mayCompact = true }: TurnToRun,
  deps: Deps,
): Promise<RunningTurn> {
  const startMs = deps.now();
  const startIso = new Date(startMs).toISOString();
  const { current, context } = readEvent(event, session.role, { iso: startIso });
  const before = await recordSession(session, deps);
  deps.onRecorded?.(before);
  const sent = { ...context, injectedAt: startIso };
  const begun = {
    id: id ?? randomUUID(),
    startMs,
    event: {
      sourceId: event.id ?? null,
      attachments: event.attachments ?? [],
      message: current,
      moment: event,
      context: sent,
      startIso,
      timeSentMs: null,
    },
    limits: { callsMax, mayCompact, repeatsFailedCalls: false },
    before,
    current: [current],
  };
  return toRunning(openTurn(begun, route), deps, null, volatile);
}

/** Takes the turn over: no other process can add to it any more. */
export async function loadTurn(
  session: Session,
  { moment = {}, callsMax = callsMaxUsual, volatile }: TurnToResume,
  deps: Deps,
): Promise<RunningTurn> {
  const { ledger } = deps;
  const found = await ledger.findUnfinished(session.id);
  if (found === null) {
    throw new SessionBusy(
      "conflict",
      `session ${session.id} has no turn to resume: it is closed, or another process works on it`,
      "run a new turn, or wait until the other one is closed",
    );
  }
  checkHead(session, found.turn);
  checkModel(session, found.turn);
  const lease = await ledger.resumeTurn(session.id);
  try {
    const recorded = await readTurn(session.id, found.turn, ledger);
    const nowIso = new Date(deps.now()).toISOString();
    const turn = restoreTurn(session, recorded, { moment, callsMax, nowIso });
    return toRunning(turn, deps, lease, volatile);
  } catch (error) {
    await lease.release().catch(() => {});
    throw error;
  }
}

/** A session value that is older than the ledger would send another conversation. */
function checkHead({ id, headTurnId }: Session, turn: TurnRecord): void {
  if (headTurnId === turn.parentTurnId) return;
  throw new SessionBusy(
    "conflict",
    `session ${id} has moved on: turn ${turn.id} follows ${turn.parentTurnId ?? "no turn"}, not ${headTurnId ?? "no turn"}`,
    "resume the session from the ledger, then its turn",
  );
}

/** The turn's bytes are for its own model. */
function checkModel({ id, model }: Session, turn: TurnRecord): void {
  if (model.id === turn.model && model.provider === turn.provider) return;
  throw new StrataError(
    "conflict",
    `turn ${turn.id} of session ${id} is with ${turn.provider}/${turn.model}, not with ${model.provider}/${model.id}`,
    "resume the session from the ledger with that model, then its turn",
  );
}

/** The latest compactions of the session, as long as they were made in this turn; oldest first. */
async function readCompactions(
  sessionId: string,
  { startMs }: TurnRecord,
  ledger: Ledger,
): Promise<readonly TurnCompaction[]> {
  const all = await ledger.readCompactions(sessionId);
  return all
    .filter(({ compactedMs }) => compactedMs >= startMs)
    .map(({ turnId, ...details }) => toTurnCompaction({ id: turnId, details }))
    .toReversed();
}

export async function readTurn(
  sessionId: string,
  turn: TurnRecord,
  ledger: Ledger,
): Promise<RecordedTurn> {
  const { id } = turn;
  return {
    turn,
    messages: await ledger.readMessages(id),
    calls: await ledger.readCalls(id),
    compaction: await ledger.findCompaction({ turnId: id }),
    toolCalls: await ledger.readToolCalls(id),
    compactions: await readCompactions(sessionId, turn, ledger),
    stateJson: await ledger.readState(sessionId),
  };
}
