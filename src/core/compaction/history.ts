// What compaction works on: the conversation as the model is shown it, every message with its place in the ledger.
import type { ThreadMessage } from "../ledger/turn-record.ts";

export type HistoryMessage = Pick<ThreadMessage, "turnId" | "index" | "message" | "tokens">;
