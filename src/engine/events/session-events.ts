// Events about a whole session: opened and closed.
import type { PayloadOf } from "../../core/events/event.ts";
import type { QueueDrop } from "../../core/ledger/queue-record.ts";
import { toUsd } from "../../core/events/payload-spelling.ts";
import type { EngineDeps } from "../session/engine-deps.ts";
import type { Session } from "../../core/session/session.ts";
import { toPreactivationDrafts } from "../../core/skills/activation-events.ts";
import { toParent } from "../../core/turn/turn-payloads.ts";
import { unlessRefused, type Emitter } from "./turn-emitter.ts";

/** Emits a new session and its initial skills, before any of its turns. */
export function emitOpened(bus: Emitter | undefined, session: Session): void {
  if (bus === undefined) return;
  const { id: sessionId, agent, origin, model, policy, thread } = session;
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
        routing_policy_version: policy.name,
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
