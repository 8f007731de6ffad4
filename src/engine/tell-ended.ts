// That a session was closed, and how it stands in the ledger (D-08).
import type { PayloadOf } from "../core/events/event.ts";
import { toUsd } from "../core/events/payload-spelling.ts";
import type { EngineEdges } from "./create-engine.ts";
import type { Session } from "../core/session/session.ts";
import { unlessRefused } from "./tell.ts";

/** Nothing of a session that nobody recorded. A ledger that cannot be asked any more keeps nobody from closing. */
export async function tellEnded(
  { ledger, events, now = Date.now }: Pick<EngineEdges, "ledger" | "events" | "now">,
  { id: sessionId, isRecorded }: Pick<Session, "id" | "isRecorded">,
  disposition: PayloadOf<"session.ended">["disposition"],
): Promise<void> {
  if (events === undefined || !isRecorded) return;
  const record = await ledger.findSession(sessionId).catch(() => null);
  if (record === null) return;
  const { turnCount, costPicoUsd, createdMs } = record;
  const payload = {
    disposition,
    turn_count: turnCount,
    total_cost_usd: toUsd(costPicoUsd),
    duration_seconds: Math.max(0, now() - createdMs) / 1000,
  };
  unlessRefused(() => events.emit({ type: "session.ended", sessionId, payload }));
}
