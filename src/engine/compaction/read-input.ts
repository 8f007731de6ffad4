// Reads a conversation from the ledger at the moment it may be compacted.
import type { Ledger } from "../../core/ledger/ledger.ts";
import {
  toCompactionInput,
  type CompactionInput,
} from "../../core/turn/compaction/compaction-input.ts";
import { listenerOf, readShown } from "../session/recorded-setup.ts";
import type { Session } from "../../core/session/session.ts";

export async function readInput(
  session: Session,
  open: CompactionInput["open"],
  stagedCount: number,
  ledger: Ledger,
): Promise<CompactionInput> {
  const of = open === null ? { sessionId: session.id } : { turnId: open.id };
  const shown = await readShown(ledger, of, listenerOf(session));
  return toCompactionInput(session, open, stagedCount, shown);
}
