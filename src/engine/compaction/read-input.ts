// Reads a conversation from the ledger at the moment it may be compacted.
import { placeLead } from "../../core/compaction/fold-lead.ts";
import type { FoldRecord } from "../../core/ledger/fold-record.ts";
import type { Ledger } from "../../core/ledger/ledger.ts";
import type { CompactionInput } from "../../core/turn/compaction/compaction-input.ts";
import { listenerOf, readShown } from "../session/recorded-seat.ts";
import type { Session } from "../../core/session/session.ts";

export async function readInput(
  session: Session,
  open: CompactionInput["open"],
  stagedCount: number,
  ledger: Ledger,
): Promise<CompactionInput> {
  const of = open === null ? { sessionId: session.id } : { turnId: open.id };
  const { messages: read, fold: lead } = await readShown(ledger, of, listenerOf(session));
  const { history, storedLength } = placeLead(read, lead?.turnId ?? null, leadIn(lead));
  const staged = stagedCount === 0 ? [] : history.slice(-stagedCount).map(({ message }) => message);
  return { session, open, history, storedLength, staged, lead };
}

/** What a fold's messages are, as it was recorded with it. */
function leadIn(fold: FoldRecord | null): unknown {
  if (fold?.metadataJson == null) return null;
  const metadata: unknown = JSON.parse(fold.metadataJson);
  return typeof metadata === "object" && metadata !== null && "lead" in metadata
    ? metadata.lead
    : null;
}
