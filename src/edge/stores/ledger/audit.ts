// Events about what the ledger itself did to sessions and turns, in the same commit.
import type { EventDraft } from "../../../core/events/event.ts";
import { toUsd } from "../../../core/events/payload-spelling.ts";
import { hashContent } from "../../../core/hash.ts";
import type { SessionRecord } from "../../../core/ledger/session-record.ts";
import type { TurnRecord } from "../../../core/ledger/turn-record.ts";
import type { Write } from "../sql/database.ts";
import { eventWrites } from "./event-rows.ts";
import type { Store } from "./store.ts";

/** The new event follows every other event of its session. */
export async function auditWrites(
  { database, events }: Store,
  draft: EventDraft,
): Promise<readonly Write[]> {
  const [row] = await database.query("SELECT MAX(id) AS id FROM events WHERE session_id = ?", [
    draft.sessionId,
  ]);
  if (typeof row?.["id"] === "string") events.continueAfter(draft.sessionId, row["id"]);
  return eventWrites([events.make(draft)]);
}

export function turnCounts({ callCount, toolCallCount, costPicoUsd }: TurnRecord): {
  readonly llm_call_count: number;
  readonly tool_call_count: number;
  readonly total_cost_usd: string;
} {
  return {
    llm_call_count: callCount,
    tool_call_count: toolCallCount,
    total_cost_usd: toUsd(costPicoUsd),
  };
}

export function sessionCounts({ turnCount, costPicoUsd }: SessionRecord): {
  readonly turn_count: number;
  readonly total_cost_usd: string;
} {
  return { turn_count: turnCount, total_cost_usd: toUsd(costPicoUsd) };
}

/** The stand-in name of a deleted session. Only those who know the original name can derive it. */
export function nameOfDeleted(id: string): string {
  return `deleted ${hashContent(id).slice(0, 16)}`;
}
