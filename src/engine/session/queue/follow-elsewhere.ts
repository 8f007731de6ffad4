// What became of a message that another process took or dropped.
import { setTimeout as wait } from "node:timers/promises";
import { SessionBusy } from "../../../core/ledger/queue-record.ts";
import type { TurnResult } from "../../../core/turn/turn-result.ts";
import type { EngineContext } from "../engine-deps.ts";
import type { LiveSession } from "../live-session.ts";
import { closed, dropped, goesOn, withdrawn } from "./queue-errors.ts";
import { findResult } from "./recorded-result.ts";

/** How often to check whether another process has finished. */
export const pollMs = 200;

interface Place {
  readonly context: EngineContext;
  readonly live: LiveSession;
  readonly isClosed: () => boolean;
}

interface GoneMessage {
  readonly id: string;
  /** Its caller no longer waits. */
  readonly signal: AbortSignal;
  /** Finishes the open turn of the session. */
  readonly resume: () => Promise<TurnResult>;
}

/** The result of the turn that took the message. Throws if the message was dropped. */
export async function followElsewhere(place: Place, message: GoneMessage): Promise<TurnResult> {
  const item = await place.context.deps.ledger.findQueued(message.id);
  if (item?.turnId != null && item.status === "taken") {
    return followTurn(place, item.turnId, message);
  }
  throw message.signal.aborted ? withdrawn() : dropped(item?.reason ?? "its session was deleted");
}

/** Waits for a turn of another process, and finishes it if that process died. An abort ends the wait alone. */
async function followTurn(
  { context, live, isClosed }: Place,
  turnId: string,
  { signal, resume }: GoneMessage,
): Promise<TurnResult> {
  const { id } = live.session;
  for (;;) {
    if (isClosed()) throw closed(id);
    const result = await findResult(context, id, turnId);
    if (result !== null) return result;
    if (signal.aborted) throw goesOn(turnId);
    const open = await context.deps.ledger.findUnfinished(id);
    if (open?.turn.id !== turnId || live.isBusy) {
      await wait(pollMs, null, { signal }).catch(() => {});
    } else {
      live.setStale();
      await resume().catch((error: unknown) => {
        // Another process was faster.
        if (!(error instanceof SessionBusy)) throw error;
      });
    }
  }
}
