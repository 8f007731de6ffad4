// Going back to what was said: found by words, read by turns. Turns are numbered from 1 along the thread, folds not counted.
import type { Role } from "../message/message.ts";

export interface HistoryQuery {
  readonly sessionId: string;
  /** Words, a name, a sentence, or a piece of code. Anything is taken as text, nothing as an operator. */
  readonly text: string;
  /** At most so many; 5 by default. */
  readonly limit?: number;
  /** Of each excerpt; 1,200 by default. */
  readonly excerptCharacters?: number;
}

/** Of a message that a fold hides, the passage that fits best. */
export interface HistoryHit extends HistoryPlace {
  readonly excerpt: string;
  /** Where the excerpt begins in the message's text, and how long that is. */
  readonly offset: number;
  readonly characters: number;
  /** Comparable within one answer only. */
  readonly score: number;
}

export interface HistoryPlace {
  readonly turnId: string;
  readonly turn: number;
  /** From 0 within the turn. */
  readonly index: number;
  readonly role: Role;
  /** Of the tool that was asked or answered; null for neither. */
  readonly toolName: string | null;
  /** When the call was made that sent it or whose reply it is. */
  readonly timeMs: number;
}

export interface FoundHistory {
  readonly hits: readonly HistoryHit[];
  /** How many messages are hidden by a fold. */
  readonly messages: number;
}

export interface HistoryRange {
  readonly sessionId: string;
  readonly from: number;
  readonly through: number;
  /** Begins with this message of the first turn; 0 by default. */
  readonly index?: number;
  /** Begins at this character of that message; 0 by default. */
  readonly offset?: number;
  /** At most so many in all; 20,000 by default. */
  readonly charactersMax?: number;
}

/** Where the answer to a tool use stands. */
export interface ToolResultPlace {
  readonly turn: number;
  readonly index: number;
}

export interface HistoryPage {
  readonly messages: readonly HistoryText[];
  /** Where to go on; null where all that was asked for is here. */
  readonly next: HistoryNext | null;
  /** How many turns the thread has. */
  readonly turns: number;
}

/** A message, or a part of one. */
export interface HistoryText extends HistoryPlace {
  readonly text: string;
  readonly offset: number;
  /** Of the whole message. */
  readonly characters: number;
}

export interface HistoryNext {
  readonly turn: number;
  readonly index: number;
  readonly offset: number;
}
