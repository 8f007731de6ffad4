// What is to be summarised, and what a summary of it must be.
import type { Thread } from "../../assembly/thread.ts";
import type { HistoryMessage } from "../../compaction/history.ts";
import type { SummaryWish } from "../../compaction/summary/instruction.ts";
import type { SummaryDemands } from "../../compaction/summary/judge.ts";
import type { Message } from "../../message/message.ts";

export interface SummaryRequest {
  /** The conversation as it stands. */
  readonly thread: Thread;
  /** What must stand before the instruction, such as results of tools that the last reply called. */
  readonly pending: readonly Message[];
  /** What will be compacted, for a summariser that is shown text. */
  readonly history: readonly HistoryMessage[];
  /** Whether it begins with the notes of a compaction before. */
  readonly hasEarlierNotes: boolean;
  readonly focus?: string;
  /** Exact strings the summary must hold. */
  readonly identifiers: readonly string[];
  /** What was asked in the compacted part and is not done, in the words it was asked with. */
  readonly pendingAsks?: readonly string[];
  /** The gate's limit; the model is told to stay below it. */
  readonly summaryTokensMax: number;
  readonly countText: (text: string) => number;
  /** The volatile text of the last call: it is part of the prefix where it stands before the messages. */
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
