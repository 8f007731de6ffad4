// Turns, threads, calls, folds: what a ledger promises. Every store keeps the same promises.
import type { StrataEvent } from "../events/event.ts";
import type { ContentHash } from "../hash.ts";
import type { JsonText } from "../message/message.ts";
import type { CallEntry, CallRecord } from "./call-entry.ts";
import type { FoldRecord, NewFold } from "./fold-record.ts";
import type {
  FoundHistory,
  HistoryPage,
  HistoryQuery,
  HistoryRange,
  ToolResultPlace,
} from "./history-record.ts";
import type { NewSession, PointerMove, SessionFilter, SessionRecord } from "./session-record.ts";
import type {
  NewMessage,
  NewTurn,
  ThreadMessage,
  ToolCallRecord,
  TurnEnd,
  TurnFoundation,
  TurnRecord,
  UnfinishedTurn,
} from "./turn-record.ts";

/**
 * What was acknowledged is there after a crash, whole and in order. A call, an answer, a fold, a closing or a batch
 * of events that is written twice is written once; another one under the same name is refused. A conflict is a
 * `StrataError` with code `conflict`.
 */
export interface Ledger {
  /** A name that is taken is a conflict. */
  createSession(session: NewSession): Promise<SessionRecord>;
  findSession(id: string): Promise<SessionRecord | null>;
  /** The latest changed first. */
  listSessions(filter?: SessionFilter): Promise<readonly SessionRecord[]>;
  /** A new session that points at a completed turn and shares everything before it. */
  forkSession(fork: NewFork): Promise<SessionRecord>;
  /** Points a session at another completed turn. Nothing is deleted. */
  moveSession(id: string, turnId: string): Promise<SessionRecord>;
  /** An archived session takes no turns until it is activated again. */
  setStatus(id: string, status: SessionRecord["status"]): Promise<SessionRecord>;
  /** Removes a session with everything only it stands on, and the sessions it asked for. */
  deleteSession(id: string, options?: DeleteOptions): Promise<Deletion>;
  /** Every move of the pointer, the oldest first. */
  pointerHistory(id: string): Promise<readonly PointerMove[]>;

  /** Takes the lease on the session and opens a turn in it. */
  openTurn(turn: NewTurn): Promise<OpenTurn>;
  /** The turn of a session that nobody closed and nobody works on, now marked interrupted; null for none. */
  findUnfinished(sessionId: string): Promise<UnfinishedTurn | null>;
  /** Goes on with an interrupted turn from its last whole call. */
  resumeTurn(sessionId: string): Promise<OpenTurn>;
  /** Gives an interrupted turn up. Its calls stay in the bill. */
  abandonTurn(sessionId: string): Promise<void>;

  /** Null where nothing was kept yet. */
  readState(sessionId: string): Promise<JsonText | null>;
  /** By its hash; null for none. */
  readContent(hash: ContentHash): Promise<string | null>;
  /**
   * From the root to the head, or to a turn, completed turns only: the latest fold's summary, then what it kept
   * and what followed. A turn that is named and not closed yet is read as far as it came, so that this is what its
   * next call sends. `whole` reads what the fold hides, too, without summaries.
   */
  readThread(of: ThreadOf, options?: { readonly whole?: boolean }): AsyncIterable<ThreadMessage>;
  findTurn(id: string): Promise<TurnRecord | null>;
  /** Every turn on the way to a session's head, the oldest first, folds among them. */
  readTurns(of: ThreadOf): AsyncIterable<TurnRecord>;
  /** Everything a turn holds, in order, whatever became of it. */
  readMessages(turnId: string): Promise<readonly ThreadMessage[]>;
  readCalls(turnId: string): Promise<readonly CallRecord[]>;
  readToolCalls(turnId: string): Promise<readonly ToolCallRecord[]>;

  /** Takes the lock on compacting a session; null where another holder has it. */
  lockFolding(sessionId: string): Promise<FoldLock | null>;
  /** Removes locks whose lifetime ended so long ago or longer; how many. */
  dropStaleLocks(olderThanMs: number): Promise<number>;
  /** The latest fold on the way to a session's head, or to a turn; null for none. */
  findFold(of: ThreadOf): Promise<FoldRecord | null>;
  /** What a turn on that way brought for a model, since the latest fold; null for none. */
  findFoundation(of: ThreadOf, model: ModelName): Promise<TurnFoundation | null>;
  /** The latest first. */
  readFolds(sessionId: string, limit?: number): Promise<readonly FoldRecord[]>;

  /**
   * What folds hide of a session's thread, the best passages first, one of each message. The first search after a fold
   * takes longer: what it hides is indexed then.
   */
  searchHistory(query: HistoryQuery): Promise<FoundHistory>;
  /** Turns of a session's thread in plain text, hidden or not, as much as is asked for. */
  readHistory(range: HistoryRange): Promise<HistoryPage>;
  /** Where on a session's thread a tool use was answered, the latest of that id; null for nowhere. */
  findToolResult(sessionId: string, toolUseId: string): Promise<ToolResultPlace | null>;
  /** All of them or none; those of a session that was deleted are not kept, because deletion is for good. */
  appendEvents(events: readonly StrataEvent[]): Promise<void>;
  /** In the order of their ids. */
  readEvents(query: EventQuery): AsyncIterable<StrataEvent>;

  /** A session with all it stands on, one JSON value per line. */
  exportSession(id: string): AsyncIterable<string>;
  /** What an export wrote, under its own name or another one. */
  importSession(lines: AsyncIterable<string>, as?: string): Promise<SessionRecord>;
  /** Removes events older than this, except those kept for audits; how many. */
  sweepEvents(beforeMs: number): Promise<number>;
  /** Everything that does not hold, in words; empty where all is well. */
  check(onProgress?: (checked: number) => void): AsyncIterable<string>;
  stats(): Promise<LedgerStats>;
  /** Told when a session's pointer moved, here or elsewhere. Returns how to stop. */
  onAdvance(handler: (sessionId: string) => void): () => void;
  close(): Promise<void>;
}

/** A turn that runs. Holds the lease on its session; whoever lost it cannot commit. */
export interface OpenTurn {
  readonly id: string;
  readonly sessionId: string;
  readonly parentTurnId: string | null;
  /** Records a call with everything of it that is not recorded yet. Durable once it resolves. */
  append(entry: CallEntry, more?: WithCall): Promise<void>;
  /** What tools answered to the last call, recorded before it is sent. */
  answer(messages: readonly NewMessage[]): Promise<void>;
  /**
   * Shortens the thread before this turn while it runs. The fold may keep this turn itself from one of its messages
   * on; where the turn then comes to nothing, the summary stands and what follows comes after it.
   */
  fold(fold: NewFold, lock: FoldLock, events?: readonly StrataEvent[]): Promise<void>;
  /** Ends the turn and gives the lease back. The session points at it if it is completed. */
  close(end: TurnEnd, events?: readonly StrataEvent[]): Promise<void>;
  /** Stops working on it without closing it: anybody may resume it. */
  release(): Promise<void>;
}

/** What is recorded in the same transaction as a call. */
export interface WithCall {
  /** Tokens of each message of `sent`, then of the reply. */
  readonly tokens?: readonly number[];
  /** Whether what this records is sent again; by default where the reply is whole. */
  readonly isReplayed?: boolean;
  /** What the session knows now: anchors, pace, refuted promises, calibration. */
  readonly stateJson?: JsonText;
  readonly events?: readonly StrataEvent[];
}

/** The right to compact a session. Whoever lost it cannot commit a fold. */
export interface FoldLock {
  readonly sessionId: string;
  readonly holder: string;
  /** The fencing token: a later holder has a higher one. */
  readonly token: number;
  /** Appends a fold outside a running turn. */
  commit(fold: NewFold, events?: readonly StrataEvent[]): Promise<void>;
  /** Keeps what a session knows after a fold that came to nothing, outside a running turn. */
  giveUp(stateJson: JsonText): Promise<void>;
  release(): Promise<void>;
}

export interface NewFork {
  /** The new session's name. */
  readonly id: string;
  /** A completed turn, or a session whose head is meant. */
  readonly from: ThreadOf;
  /** The session whose agent, role, model, foundation and setup it takes over; the one forked by default. */
  readonly like?: string;
}

/** As turns are recorded with it. */
export interface ModelName {
  readonly model: string;
  readonly provider: string;
}

export type ThreadOf = { readonly sessionId: string } | { readonly turnId: string };

export interface DeleteOptions {
  /** Every session that stands on its turns, too. Otherwise what they stand on stays. */
  readonly withForks?: boolean;
}

export interface Deletion {
  readonly sessions: readonly string[];
  readonly turns: number;
  /** Turns of it that stay because other sessions stand on them. */
  readonly turnsKept: number;
  /** Null where the content is gone from the database's files, as far as it can tell; else why not, and what to do. */
  readonly notYetScrubbed: string | null;
}

export interface EventQuery {
  readonly sessionId?: string;
  readonly types?: readonly string[];
  /** Only later ones. */
  readonly afterId?: string;
}

export interface LedgerStats {
  readonly store: "sqlite" | "postgres";
  readonly schema: number;
  readonly rows: Readonly<Record<string, number>>;
  readonly bytes: number;
  readonly costPicoUsd: bigint;
  readonly oldestMs: number | null;
  readonly newestMs: number | null;
}
