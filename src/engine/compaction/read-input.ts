// Reads a conversation from the ledger for a compaction.
import { placeHead } from "../../core/compaction/compaction-head.ts";
import type { CompactionRecord } from "../../core/ledger/compaction-record.ts";
import type { Ledger } from "../../core/ledger/ledger.ts";
import type { CompactionInput } from "../../core/turn/compaction/compaction-input.ts";
import { listenerOf, readShown } from "../session/recorded-setup.ts";
import type { Session } from "../../core/session/session.ts";

export async function readInput(
  session: Session,
  open: CompactionInput["open"],
  stagedCount: number,
  ledger: Ledger,
): Promise<CompactionInput> {
  const of = open === null ? { sessionId: session.id } : { turnId: open.id };
  const { messages: read, compaction: lead } = await readShown(ledger, of, listenerOf(session));
  const { history, storedLength } = placeHead(read, lead?.turnId ?? null, leadIn(lead));
  const staged = stagedCount === 0 ? [] : history.slice(-stagedCount).map(({ message }) => message);
  return { session, open, history, storedLength, staged, lead };
}

/** The recorded description of a compaction's own messages. */
function leadIn(compaction: CompactionRecord | null): unknown {
  if (compaction?.metadataJson == null) return null;
  const metadata: unknown = JSON.parse(compaction.metadataJson);
  return typeof metadata === "object" && metadata !== null && "lead" in metadata
    ? metadata.lead
    : null;
}
