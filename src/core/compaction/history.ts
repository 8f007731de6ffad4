// What compaction works on: the conversation as the model is shown it, every message with its place in the ledger.
import type { ThreadMessage } from "../ledger/turn-record.ts";

export interface HistoryMessage extends Pick<
  ThreadMessage,
  "turnId" | "index" | "message" | "tokens"
> {
  /** Of the fold that leads the history, and absent for what was said itself. Never told from what a text looks like. */
  readonly foldPart?: FoldPart;
}

/** `notes`: what stands for what was folded. `request`: what is being worked on, repeated after the notes. */
export type FoldPart = "notes" | "request";
