// Events about a whole session: opened and closed.
import { createEventIds } from "../../core/events/event-ids.ts";
import type { PayloadOf } from "../../core/events/event.ts";
import type { QueueDrop } from "../../core/ledger/queue-record.ts";
import { toUsd } from "../../core/events/payload-spelling.ts";
import type { EngineDeps } from "../session/engine-deps.ts";
import type { Session } from "../../core/session/session.ts";
import { toPreactivationDrafts } from "../../core/skills/activation-events.ts";
import { toParent } from "../../core/turn/turn-payloads.ts";
import { unlessRefused, type Emitter } from "./turn-emitter.ts";

/** Emits a new session and its initial skills, before any of its turns. */
export function emitOpened(
  bus: Emitter | undefined,
  session: Session,
  routingVersion: string,
): void {
  if (bus === undefined) return;
  const { id: sessionId, agent, origin, model, thread } = session;
  const { workspacePath, preactivated } = session;
  const opened = unlessRefused(() =>
    bus.emit({
      type: "session.created",
      sessionId,
      payload: {
        agent,
        ...toParent(origin),
        workspace_path: workspacePath ?? "(none)",
        workspace_hash: thread.foundation.key,
        initial_active_model: model.id,
        routing_policy_version: routingVersion,
      },
    }),
  );
  const parentEventId = opened?.id ?? null;
  for (const draft of toPreactivationDrafts(sessionId, preactivated)) {
    unlessRefused(() => bus.emit({ ...draft, parentEventId }));
  }
}

export type DropCause = PayloadOf<"queue.dropped">["cause"];

/** Emits that a message left the queue without a turn. */
export function emitDropped(
  bus: Emitter | undefined,
  sessionId: string,
  {
    id,
    status,
    cause,
  }: Pick<QueueDrop, "status"> & { readonly id: string; readonly cause: DropCause },
): void {
  const payload = { item_id: id, status, cause };
  unlessRefused(() => bus?.emit({ type: "queue.dropped", sessionId, payload }));
}

/**
 * Makes the next event ids of a session sort after the stored ones, even if another clock is ahead of ours.
 * Returns the last stored id; null if there is none. Call it before the session's first event.
 */
export async function continueEvents(
  { events, ledger, now = Date.now }: Pick<EngineDeps, "events" | "ledger" | "now">,
  sessionId: string,
): Promise<string | null> {
  if (events === undefined) return null;
  const touchedMs = (await ledger.findSession(sessionId))?.updatedMs ?? Infinity;
  const fromMs = Math.min(now(), touchedMs - eventsLateMs);
  // The smallest id of that moment.
  const afterId = createEventIds().next(fromMs, new Uint8Array(10));
  let last: string | null = null;
  for await (const { id } of ledger.readEvents({ sessionId, afterId })) last = id;
  if (last !== null) events.continueSession?.(sessionId, last);
  return last;
}

/** The last events of a session are about as old as its last write; clocks differ. */
const eventsLateMs = 60_000;

/** Emits that a session was opened again, after its last event. */
export function emitResumed(
  events: Emitter | undefined,
  { id: sessionId, thread }: Pick<Session, "id" | "thread">,
  last: string | null,
): void {
  if (events === undefined) return;
  const payload = { workspace_hash: thread.foundation.key, last_event_id_at_resume: last };
  unlessRefused(() =>
    events.emit({ type: "session.resumed", sessionId, payload, parentEventId: last }),
  );
}

/** Emits nothing for an unrecorded session. A failing ledger does not stop the close. */
export async function emitEnded(
  { ledger, events, now = Date.now }: Pick<EngineDeps, "ledger" | "events" | "now">,
  { id: sessionId, isRecorded, model }: Pick<Session, "id" | "isRecorded" | "model">,
  disposition: PayloadOf<"session.ended">["disposition"],
): Promise<void> {
  if (events === undefined || !isRecorded) return;
  const record = await ledger.findSession(sessionId).catch(() => null);
  if (record === null) return;
  const { turnCount, costPicoUsd, createdMs } = record;
  const payload = {
    disposition,
    turn_count: turnCount,
    // Without a price nothing is known, and 0 would be wrong.
    total_cost_usd:
      costPicoUsd === 0n && model.prices.kind === "unpriced" ? null : toUsd(costPicoUsd),
    duration_seconds: Math.max(0, now() - createdMs) / 1000,
  };
  unlessRefused(() => events.emit({ type: "session.ended", sessionId, payload }));
}
