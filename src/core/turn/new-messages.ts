// Messages of a thread, as the ledger keeps them.
import { messagesFrom, messageTokens, type Thread } from "../assembly/thread.ts";
import type { NewMessage } from "../ledger/turn-record.ts";

/** Messages of a thread from a place on, as the ledger keeps them. */
export function newMessages(thread: Thread, from: number): readonly NewMessage[] {
  const tokens = messageTokens(thread, from);
  return messagesFrom(thread, from).map((message, index) => ({
    message,
    tokens: tokens[index] ?? 0,
  }));
}
