// The result of a turn that another process ran, as the ledger has it.
import { restoreClosed } from "../../../core/turn/restore-turn.ts";
import { toTurnResult, type TurnResult } from "../../../core/turn/turn-result.ts";
import type { TurnEnding } from "../../../core/turn/turn.ts";
import { readTurn } from "../../turn/begin-turn.ts";
import type { EngineContext } from "../engine-deps.ts";
import { loadSession } from "../open-session.ts";

/** Null while the turn is not over. */
export async function findResult(
  context: EngineContext,
  sessionId: string,
  turnId: string,
): Promise<TurnResult | null> {
  const { ledger } = context.deps;
  const record = await ledger.findTurn(turnId);
  if (record === null || record.status === "pending" || record.status === "interrupted")
    return null;
  const { compactions, ...recorded } = await readTurn(sessionId, record, ledger);
  const { session } = await loadSession(context, sessionId);
  const endMs = record.endMs ?? record.startMs;
  // Later turns may have compacted, too.
  const own = compactions.filter(({ compactedMs }) => compactedMs <= endMs);
  const turn = restoreClosed({ ...recorded, compactions: own });
  const how = record.status === "completed" ? "done" : endingOf(record.endReason);
  return toTurnResult(turn, { how, endMs, session, unsaid: undefined });
}

const endings: readonly TurnEnding[] = ["failed", "cancelled", "cut off", "too many calls"];

/** Abandoned turns failed. */
function endingOf(reason: string | null): TurnEnding {
  return endings.find((each) => each === reason) ?? "failed";
}
