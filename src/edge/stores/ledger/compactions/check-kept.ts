// Checks what a compaction refers to: turns of its own thread, and a cut that splits no tool use from its answer.
import { findBoundPlaces } from "../../../../core/compaction/plan/cut-places.ts";
import type { NewCompaction } from "../../../../core/ledger/compaction-record.ts";
import { StrataError } from "../../../../core/strata-error.ts";
import { checkFoundation } from "../../sql/storable.ts";
import { readMessages } from "../turns/read-turn.ts";
import type { Store } from "../store.ts";
import { isOnPath } from "../threads/thread-path.ts";

/** A compaction that keeps a turn from elsewhere would make the session unreadable. */
export async function checkKept(
  store: Store,
  compaction: NewCompaction,
  runningTurnId: string | null,
): Promise<void> {
  const { parentTurnId, foundation, id } = compaction;
  const { firstKeptTurnId, summarizedThroughTurnId } = compaction.details;
  checkFoundation(`compaction ${id}`, foundation);
  const isRunning = (turnId: string): boolean =>
    turnId === runningTurnId && firstKeptTurnId === runningTurnId;
  for (const turnId of [
    summarizedThroughTurnId,
    ...(firstKeptTurnId === null ? [] : [firstKeptTurnId]),
  ]) {
    if (isRunning(turnId)) continue;
    if (parentTurnId !== null && (await isOnPath(store, turnId, parentTurnId))) continue;
    throw invalid(
      `compaction ${id} refers to turn ${turnId}, which is not a completed turn on the way to ${parentTurnId ?? "its beginning"}`,
      "summarize and keep turns of the compacted thread",
    );
  }
  await checkIndex(store, compaction);
}

async function checkIndex(store: Store, { id, details }: NewCompaction): Promise<void> {
  const { firstKeptTurnId: turnId, firstKeptIndex: index = 0 } = details;
  if (index === 0) return;
  const messages = turnId === null ? [] : await readMessages(store, turnId);
  if (turnId === null || !(Number.isInteger(index) && index > 0 && index <= messages.length)) {
    throw invalid(
      `compaction ${id} keeps from message ${index} of ${turnId === null ? "no turn" : `turn ${turnId}, which has ${messages.length}`}`,
      "name a message of the first kept turn, or 0 for all of it",
    );
  }
  const sent = messages.map(({ message, isReplayed }) => (isReplayed ? message : nothing));
  if (!findBoundPlaces(sent).has(index)) return;
  throw invalid(
    `compaction ${id} splits a tool use of turn ${turnId} from its answer, at message ${index}`,
    "start the kept part at an assistant message that has no open tool uses before it",
  );
}

/** A reply that is not sent again answers and asks nothing. */
const nothing = { role: "tool", content: [] } as const;

function invalid(message: string, hint: string): StrataError {
  return new StrataError("input-invalid", message, hint);
}
