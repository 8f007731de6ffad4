// A conversation at the moment it may be compacted: what the model is shown, with its places in the ledger.
import { placeHead } from "../../compaction/compaction-head.ts";
import type { HistoryMessage } from "../../compaction/history.ts";
import type { OpenTurn } from "../../ledger/ledger.ts";
import type { CompactionRecord } from "../../ledger/compaction-record.ts";
import type { ThreadMessage } from "../../ledger/turn-record.ts";
import type { Message } from "../../message/message.ts";
import type { Session } from "../../session/session.ts";
import type { Activation } from "../../skills/activation.ts";

export interface CompactionInput {
  /** Its thread ends before the staged messages. */
  readonly session: Session;
  /** The turn that runs; null between turns. */
  readonly open: Pick<OpenTurn, "id" | "parentTurnId"> | null;
  /** All messages of the next call, oldest first. */
  readonly history: readonly HistoryMessage[];
  /** How many messages at the start the latest compaction stored itself: its notes and its copies. */
  readonly storedLength: number;
  /** The last messages, which no call has sent yet. */
  readonly staged: readonly Message[];
  /** The compaction at the start of the history; null for none. */
  readonly previous: CompactionRecord | null;
}

export interface ShownHistory {
  /** All messages that the model sees, with the staged ones. */
  readonly messages: readonly ThreadMessage[];
  /** The compaction at its start; null for none. */
  readonly compaction: CompactionRecord | null;
}

/** `stagedCount`: how many of the running turn's messages no call has sent yet. */
export function toCompactionInput(
  session: Session,
  open: CompactionInput["open"],
  stagedCount: number,
  { messages, compaction: previous }: ShownHistory,
): CompactionInput {
  const { history, storedLength } = placeHead(messages, previous?.turnId ?? null, headIn(previous));
  const staged = stagedCount === 0 ? [] : history.slice(-stagedCount).map(({ message }) => message);
  return { session, open, history, storedLength, staged, previous };
}

/** The stored description of a compaction's messages. */
function headIn(compaction: CompactionRecord | null): unknown {
  if (compaction?.metadataJson == null) return null;
  const metadata: unknown = JSON.parse(compaction.metadataJson);
  return typeof metadata === "object" && metadata !== null && "lead" in metadata
    ? metadata.lead
    : null;
}

/** Counts its turns, without turns that only record a compaction. */
export function countTurns({
  history,
  previous,
}: Pick<CompactionInput, "history" | "previous">): number {
  const ids = new Set(history.map(({ turnId }) => turnId));
  return previous !== null && ids.has(previous.turnId) ? ids.size - 1 : ids.size;
}

/** Skills whose body came with one of these tool results. */
export function freedSkills(
  resultsGone: ReadonlySet<string>,
  loaded: readonly Activation[],
): readonly Activation[] {
  return loaded.filter(({ toolUseId }) => resultsGone.has(toolUseId));
}

/** The tool uses that are answered in these messages. */
export function answeredIn(messages: readonly HistoryMessage[]): ReadonlySet<string> {
  const blocks = messages.flatMap(({ message }) => message.content);
  return new Set(
    blocks.flatMap((block) => (block.type === "tool_result" ? [block.toolUseId] : [])),
  );
}
