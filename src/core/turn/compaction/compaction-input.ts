// A conversation at the moment it may be compacted: what the model is shown, with its places in the ledger.
import type { HistoryMessage } from "../../compaction/history.ts";
import type { OpenTurn } from "../../ledger/ledger.ts";
import type { CompactionRecord } from "../../ledger/compaction-record.ts";
import type { Message } from "../../message/message.ts";
import type { Session } from "../../session/session.ts";

export interface CompactionInput {
  /** Its thread ends before what is staged. */
  readonly session: Session;
  /** The turn that runs; null between turns. */
  readonly open: Pick<OpenTurn, "id" | "parentTurnId"> | null;
  /** Everything the next call sends of the conversation, oldest first. */
  readonly history: readonly HistoryMessage[];
  /** The first of them, which the compaction that leads the history says itself: its notes, and what it copied. */
  readonly storedLength: number;
  /** The last ones of them, which no call has sent yet. */
  readonly staged: readonly Message[];
  /** The compaction that leads the history; null for none. */
  readonly lead: CompactionRecord | null;
}

/** Turns of it, without those that only tell of a compaction. */
export function countTurns({ history, lead }: Pick<CompactionInput, "history" | "lead">): number {
  const ids = new Set(history.map(({ turnId }) => turnId));
  return lead !== null && ids.has(lead.turnId) ? ids.size - 1 : ids.size;
}
