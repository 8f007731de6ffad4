// The expected thread of a session, old or new, computed without the ledger's own reading code.
import { createHash } from "node:crypto";
import type { NewCompaction } from "../../src/core/ledger/compaction-record.ts";
import type { Ledger } from "../../src/core/ledger/ledger.ts";
import type { Message } from "../../src/core/message/message.ts";
import { digestOf } from "../ledger/facts.ts";

export interface Item {
  readonly turnId: string;
  readonly index: number;
  readonly digest: string;
}

export async function readItems(ledger: Ledger, sessionId: string): Promise<readonly Item[]> {
  const items: Item[] = [];
  for await (const { turnId, index, message } of ledger.readThread({ sessionId })) {
    items.push({ turnId, index, digest: digestOf(message) });
  }
  return items;
}

/** The messages of a turn that are sent again, from one message on. */
export async function readOwn(
  ledger: Ledger,
  turnId: string,
  from: number,
): Promise<readonly Item[]> {
  const messages = await ledger.readMessages(turnId);
  return messages
    .filter(({ isReplayed, index }) => isReplayed && index >= from)
    .map(({ index, message }) => ({ turnId, index, digest: digestOf(message) }));
}

/** The compaction's messages, and everything from the first kept position on. */
export function foldItems(items: readonly Item[], compaction: NewCompaction): readonly Item[] {
  const { firstKeptTurnId, firstKeptIndex = 0 } = compaction.details;
  const at = items.findIndex(
    ({ turnId, index }) => turnId === firstKeptTurnId && index >= firstKeptIndex,
  );
  const kept = at === -1 ? [] : items.slice(at);
  return [
    ...compaction.messages.map(({ message }, index) => toItem(compaction.id, index, message)),
    ...kept,
  ];
}

function toItem(turnId: string, index: number, message: Message): Item {
  return { turnId, index, digest: digestOf(message) };
}

export function digestItems(items: readonly Item[]): string {
  const lines = items.map(({ turnId, index, digest }) => `${turnId} ${index} ${digest}`);
  const hash = createHash("sha256").update(lines.join("\n")).digest("base64").slice(0, 22);
  return `${items.length} messages, ${hash}`;
}
