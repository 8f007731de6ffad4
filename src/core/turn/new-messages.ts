// Messages of a thread in the form the ledger stores.
import { messagesFrom, messageTokens, type Thread } from "../assembly/thread.ts";
import type { NewMessage } from "../ledger/turn-record.ts";

export function newMessages(thread: Thread, from: number): readonly NewMessage[] {
  const tokens = messageTokens(thread, from);
  return messagesFrom(thread, from).map((message, index) => ({
    message,
    tokens: tokens[index] ?? 0,
  }));
}
