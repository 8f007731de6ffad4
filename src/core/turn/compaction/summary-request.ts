// What to summarise, and what the summary must contain.
import type { Thread } from "../../assembly/thread.ts";
import type { HistoryMessage } from "../../compaction/history.ts";
import type { SummaryWish } from "../../compaction/summary/instruction.ts";
import type { SummaryDemands } from "../../compaction/summary/judge.ts";
import type { Message } from "../../message/message.ts";

export interface SummaryRequest {
  /** The current conversation. */
  readonly thread: Thread;
  /** Messages before the instruction, such as results of tools that the last reply called. */
  readonly pending: readonly Message[];
  /** The part to compact, for a summariser that reads it as text. */
  readonly history: readonly HistoryMessage[];
  /** Whether it begins with the notes of an earlier compaction. */
  readonly hasEarlierNotes: boolean;
  readonly focus?: string;
  /** Exact strings that the summary must contain. */
  readonly identifiers: readonly string[];
  /** Open requests of the compacted part, word for word. */
  readonly pendingAsks?: readonly string[];
  /** Longer summaries are refused. The instruction asks for a shorter one. */
  readonly summaryTokensMax: number;
  readonly countText: (text: string) => number;
  /** The volatile text of the last call. It is part of the prefix if it stands before the messages. */
  readonly volatile?: string | null;
}

/** Models do not count well. */
const askedShare = 0.8;

export function wishOf(request: SummaryRequest): SummaryWish {
  const { focus, identifiers, hasEarlierNotes, summaryTokensMax } = request;
  return {
    ...(focus === undefined ? {} : { focus }),
    hasEarlierNotes,
    identifiers,
    tokensMax: Math.floor(summaryTokensMax * askedShare),
  };
}

export function demandsOf(request: SummaryRequest): SummaryDemands {
  const { identifiers, pendingAsks, summaryTokensMax, countText, history } = request;
  const tokens = history.reduce((sum, each) => sum + each.tokens, 0);
  return {
    identifiers,
    ...(pendingAsks === undefined ? {} : { pendingAsks }),
    // A short conversation has a short summary.
    tokensMin: Math.min(tokensMinMost, Math.floor(tokens / 100)),
    tokensMax: summaryTokensMax,
    countText,
  };
}

const tokensMinMost = 120;
