// A conversation at the moment it may be folded: what the model is shown, with its places in the ledger.
import { placeLead } from "../core/compaction/fold-lead.ts";
import type { HistoryMessage } from "../core/compaction/history.ts";
import type { Ledger, OpenTurn } from "../core/ledger/ledger.ts";
import type { FoldRecord } from "../core/ledger/fold-record.ts";
import type { Message } from "../core/message/message.ts";
import { listenerOf, readShown } from "./recorded-seat.ts";
import type { Session } from "./session.ts";

export interface FoldScene {
  /** Its thread ends before what is staged. */
  readonly session: Session;
  /** The turn that runs; null between turns. */
  readonly open: OpenTurn | null;
  /** Everything the next call sends of the conversation, oldest first. */
  readonly history: readonly HistoryMessage[];
  /** The first of them, which the fold that leads the history says itself: its notes, and what it copied. */
  readonly storedLength: number;
  /** The last ones of them, which no call has sent yet. */
  readonly staged: readonly Message[];
  /** The fold that leads the history; null for none. */
  readonly lead: FoldRecord | null;
}

export async function readScene(
  session: Session,
  open: OpenTurn | null,
  stagedCount: number,
  ledger: Ledger,
): Promise<FoldScene> {
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

/** Turns of it, without those that only tell of a fold. */
export function countTurns({ history, lead }: Pick<FoldScene, "history" | "lead">): number {
  const ids = new Set(history.map(({ turnId }) => turnId));
  return lead !== null && ids.has(lead.turnId) ? ids.size - 1 : ids.size;
}
