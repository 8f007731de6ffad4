// The input of compaction: the conversation as the model sees it, each message with its place in the ledger.
import type { ThreadMessage } from "../ledger/turn-record.ts";

export interface HistoryMessage extends Pick<
  ThreadMessage,
  "turnId" | "index" | "message" | "tokens"
> {
  /** Set for messages of the leading compaction, absent for all others. Never guessed from a text. */
  readonly compactionPart?: CompactionPart;
}

/** `notes`: the summary of what was compacted. `request`: the current task, repeated after the notes. */
export type CompactionPart = "notes" | "request";
