// A conversation before a compaction: what the model sees, with each message's place in the ledger.
import type { HistoryMessage } from "../../compaction/history.ts";
import type { OpenTurn } from "../../ledger/ledger.ts";
import type { CompactionRecord } from "../../ledger/compaction-record.ts";
import type { Message } from "../../message/message.ts";
import type { Session } from "../../session/session.ts";

export interface CompactionInput {
  /** Its thread ends before the staged messages. */
  readonly session: Session;
  /** The turn that runs; null between turns. */
  readonly open: Pick<OpenTurn, "id" | "parentTurnId"> | null;
  /** All messages of the next call, oldest first. */
  readonly history: readonly HistoryMessage[];
  /** How many messages at the start the latest compaction stored itself: its notes and its copies. */
  readonly storedLength: number;
  /** The last messages, which no call has sent yet. */
  readonly staged: readonly Message[];
  /** The compaction at the start of the history; null for none. */
  readonly lead: CompactionRecord | null;
}

/** Counts its turns, without turns that only record a compaction. */
export function countTurns({ history, lead }: Pick<CompactionInput, "history" | "lead">): number {
  const ids = new Set(history.map(({ turnId }) => turnId));
  return lead !== null && ids.has(lead.turnId) ? ids.size - 1 : ids.size;
}
