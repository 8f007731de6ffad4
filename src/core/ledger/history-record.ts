// Looking up earlier text: found by words, read by turns. Turns are numbered from 1 along the thread, without
// compactions.
import type { Role } from "../message/message.ts";

export interface HistoryQuery {
  readonly sessionId: string;
  /** Words, a name, a sentence or code. Everything is plain text; there are no operators. */
  readonly text: string;
  /** 5 by default. */
  readonly limit?: number;
  /** The length of each excerpt. 1,200 by default. */
  readonly excerptCharacters?: number;
}

/** The best passage of a message that a compaction hides. */
export interface HistoryHit extends HistoryPlace {
  readonly excerpt: string;
  /** Where the excerpt begins in the message's text, and the length of that text. */
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
  /** The tool that was called or answered. Null for neither. */
  readonly toolName: string | null;
  /** The time of the call that sent it or returned it. */
  readonly timeMs: number;
}

export interface FoundHistory {
  readonly hits: readonly HistoryHit[];
  /** How many messages compactions hide. */
  readonly messages: number;
}

export interface HistoryRange {
  readonly sessionId: string;
  readonly from: number;
  readonly through: number;
  /** Starts with this message of the first turn. 0 by default. */
  readonly index?: number;
  /** Starts at this character of that message. 0 by default. */
  readonly offset?: number;
  /** The limit for all texts together. 20,000 by default. */
  readonly charactersMax?: number;
}

/** Where the result of a tool use stands. */
export interface ToolResultPlace {
  readonly turn: number;
  readonly index: number;
}

export interface HistoryPage {
  readonly messages: readonly HistoryText[];
  /** Where to continue. Null if this is everything. */
  readonly next: HistoryNext | null;
  /** How many turns the thread has. */
  readonly turns: number;
}

/** A message, or a part of one. */
export interface HistoryText extends HistoryPlace {
  readonly text: string;
  readonly offset: number;
  /** The length of the whole message. */
  readonly characters: number;
}

export interface HistoryNext {
  readonly turn: number;
  readonly index: number;
  readonly offset: number;
}
