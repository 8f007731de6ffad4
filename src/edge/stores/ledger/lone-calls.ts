// Calls without a turn, such as those that keep a cache warm: recorded, read, summed.
import type { LoneCall } from "../../../core/ledger/call-entry.ts";
import type { WithLoneCall } from "../../../core/ledger/ledger.ts";
import type { Guard } from "../sql/database.ts";
import { storableJson } from "../sql/storable.ts";
import { addCost, moneyOf, moneySums } from "../sql/sums.ts";
import { selected } from "../sql/tables.ts";
import { eventWrites } from "./event-rows.ts";
import { needSession } from "./sessions/session-rows.ts";
import { checkName } from "./sessions/write-session.ts";
import { commitOnce, conflict, landedRow, notFound, type Store } from "./store.ts";
import { checkCost } from "./turns/append-call.ts";
import { loneCallRow, toLoneCall } from "./turns/call-rows.ts";

/** Needs no lease: a paid call is recorded even while another process works on the session. */
export async function recordCall(
  store: Store,
  call: LoneCall,
  { state, events = [] }: WithLoneCall = {},
): Promise<void> {
  checkLoneCall(call);
  const row = loneCallRow(call);
  const { session_id = null, id = null, entry_hash = null } = row;
  const result = await commitOnce(store, {
    guards: [payingSession(call, state)],
    writes: [{ into: "calls", rows: [row] }, ...eventWrites(events)],
    landed: () => landedRow("calls", { turn_id: null, session_id, id, entry_hash }),
  });
  if (result.kind === "done") return;
  if (result.kind === "refused") throw notFound(`session ${call.sessionId}`);
  throw conflict(
    `session ${call.sessionId} already has a different call ${call.id}`,
    "give every call its own id, and record it once",
  );
}

export function checkLoneCall({ id, sessionId, costPicoUsd }: LoneCall): void {
  checkName(id, "call");
  checkCost(`call ${id} of session ${sessionId}`, costPicoUsd);
}

/** Adds the cost. Stores the state only if no turn is open and the head has not moved. */
export function payingSession(
  { sessionId, costPicoUsd }: LoneCall,
  state?: WithLoneCall["state"],
): Guard {
  const cost = costPicoUsd ?? 0n;
  return {
    name: "session",
    sql: `UPDATE sessions SET ${addCost}, state_json = CASE WHEN open_turn_id IS NULL AND head_turn_id IS NOT DISTINCT FROM ? THEN COALESCE(?, state_json) ELSE state_json END WHERE id = ?`,
    values: [cost, cost, state?.headTurnId ?? null, storableJson(state?.json), sessionId],
  };
}

export async function readLoneCalls(store: Store, sessionId: string): Promise<readonly LoneCall[]> {
  await needSession(store, sessionId);
  const rows = await store.database.query(
    `SELECT ${selected("calls")} FROM calls WHERE turn_id IS NULL AND kind <> 'gateway' AND session_id = ? ORDER BY started_ms, id`,
    [sessionId],
  );
  return rows.map(toLoneCall);
}

export async function sumLoneCalls(
  { database }: Store,
  kind: LoneCall["kind"],
  sinceMs: number,
): Promise<bigint> {
  const [row] = await database.query(
    `SELECT ${moneySums("cost_pico_usd", "cost")} FROM calls WHERE turn_id IS NULL AND kind = ? AND started_ms >= ?`,
    [kind, sinceMs],
  );
  return moneyOf(row, "cost");
}
