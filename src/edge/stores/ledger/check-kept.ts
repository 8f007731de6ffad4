// What a fold may refer to: turns of the thread that is folded, and a place that parts no tool use from its answer.
import type { NewFold } from "../../../core/ledger/fold-record.ts";
import type { ThreadMessage } from "../../../core/ledger/turn-record.ts";
import { StrataError } from "../../../core/strata-error.ts";
import { checkFoundation } from "./check-foundation.ts";
import { readMessages } from "./read-turn.ts";
import type { Store } from "./store.ts";
import { isOnPath } from "./thread-path.ts";

/** A fold that keeps from a turn elsewhere would leave a session that cannot be read. */
export async function checkKept(
  store: Store,
  fold: NewFold,
  runningTurnId: string | null,
): Promise<void> {
  const { parentTurnId, foundation, id } = fold;
  const { firstKeptTurnId, summarizedThroughTurnId } = fold.details;
  checkFoundation(`fold ${id}`, foundation);
  const isRunning = (turnId: string): boolean =>
    turnId === runningTurnId && firstKeptTurnId === runningTurnId;
  for (const turnId of [
    summarizedThroughTurnId,
    ...(firstKeptTurnId === null ? [] : [firstKeptTurnId]),
  ]) {
    if (isRunning(turnId)) continue;
    if (parentTurnId !== null && (await isOnPath(store, turnId, parentTurnId))) continue;
    throw invalid(
      `fold ${id} refers to turn ${turnId}, which is not a completed turn on the way to ${parentTurnId ?? "its beginning"}`,
      "summarise and keep turns of the thread that is folded",
    );
  }
  await checkIndex(store, fold);
}

async function checkIndex(store: Store, { id, details }: NewFold): Promise<void> {
  const { firstKeptTurnId: turnId, firstKeptIndex: index = 0 } = details;
  if (index === 0) return;
  const messages = turnId === null ? [] : await readMessages(store, turnId);
  if (turnId === null || !(Number.isInteger(index) && index > 0 && index <= messages.length)) {
    throw invalid(
      `fold ${id} keeps from message ${index} of ${turnId === null ? "no turn" : `turn ${turnId}, which has ${messages.length}`}`,
      "name a message of the first kept turn, or 0 for all of it",
    );
  }
  const open = findParted(messages, index);
  if (open === undefined) return;
  throw invalid(
    `fold ${id} parts tool use ${open} of turn ${turnId} from its answer`,
    "keep from right before an assistant message whose tool uses are all after it",
  );
}

/** A tool use before an index that is answered after it, or not yet. */
function findParted(messages: readonly ThreadMessage[], index: number): string | undefined {
  const open = new Set<string>();
  for (const { message, isReplayed } of messages.slice(0, index)) {
    if (!isReplayed) continue;
    for (const block of message.content) {
      if (block.type === "tool_use") open.add(block.id);
      if (block.type === "tool_result") open.delete(block.toolUseId);
    }
  }
  return [...open][0];
}

function invalid(message: string, hint: string): StrataError {
  return new StrataError("input-invalid", message, hint);
}
