// A conversation at the moment it may be folded: what the model is shown, with its places in the ledger.
import { placeLead } from "../../compaction/fold-lead.ts";
import type { HistoryMessage } from "../../compaction/history.ts";
import type { OpenTurn } from "../../ledger/ledger.ts";
import type { FoldRecord } from "../../ledger/fold-record.ts";
import type { ThreadMessage } from "../../ledger/turn-record.ts";
import type { Message } from "../../message/message.ts";
import type { Session } from "../../session/session.ts";

export interface CompactionInput {
  /** Its thread ends before what is staged. */
  readonly session: Session;
  /** The turn that runs; null between turns. */
  readonly open: Pick<OpenTurn, "id" | "parentTurnId"> | null;
  /** Everything the next call sends of the conversation, oldest first. */
  readonly history: readonly HistoryMessage[];
  /** The first of them, which the fold that leads the history says itself: its notes, and what it copied. */
  readonly storedLength: number;
  /** The last ones of them, which no call has sent yet. */
  readonly staged: readonly Message[];
  /** The fold that leads the history; null for none. */
  readonly lead: FoldRecord | null;
}

/** What is read of the ledger for it. */
export interface ShownHistory {
  /** As the model is shown it, with what is staged. */
  readonly messages: readonly ThreadMessage[];
  /** The fold that leads it; null for none. */
  readonly fold: FoldRecord | null;
}

/** `stagedCount`: how many of the running turn's messages no call has sent yet. */
export function toCompactionInput(
  session: Session,
  open: CompactionInput["open"],
  stagedCount: number,
  { messages, fold: lead }: ShownHistory,
): CompactionInput {
  const { history, storedLength } = placeLead(messages, lead?.turnId ?? null, leadIn(lead));
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
export function countTurns({ history, lead }: Pick<CompactionInput, "history" | "lead">): number {
  const ids = new Set(history.map(({ turnId }) => turnId));
  return lead !== null && ids.has(lead.turnId) ? ids.size - 1 : ids.size;
}
