// Turns, threads, calls, compactions: what a ledger promises. Every store keeps the same promises.
import type { StrataEvent } from "../events/event.ts";
import type { ContentHash } from "../hash.ts";
import type { AgentRole } from "../message/assembled-context.ts";
import type { JsonText } from "../message/message.ts";
import type { Usage } from "../message/usage.ts";
import type { CallEntry, CallRecord, LoneCall } from "./call-entry.ts";
import type { ConversationState, StateQuestion, SweptStates } from "./conversation-state.ts";
import type {
  ConversationPrompt,
  GatewayCall,
  GatewayRun,
  KeySpending,
  OpenGatewayRun,
  RecordedCalls,
  SpendingSince,
  WarmingCost,
} from "./gateway-call.ts";
import type { CompactionRecord, NewCompaction } from "./compaction-record.ts";
import type {
  FoundHistory,
  HistoryPage,
  HistoryQuery,
  HistoryRange,
  ToolResultPlace,
} from "./history-record.ts";
import type { NewQueueItem, QueueDrop, QueueItem } from "./queue-record.ts";
import type {
  NewResource,
  ResourceChange,
  ResourceFilter,
  ResourceRecord,
} from "./resource-record.ts";
import type { NewSession, PointerMove, SessionFilter, SessionRecord } from "./session-record.ts";
import type {
  NewMessage,
  NewTurn,
  NextModel,
  ThreadMessage,
  ToolCallRecord,
  TurnEnd,
  TurnFoundation,
  TurnRecord,
  UnfinishedTurn,
} from "./turn-record.ts";

/**
 * Acknowledged data survives a crash, complete and in order. Writing the same call, answer, compaction, closing
 * or batch of events twice stores it once; a different one under the same name is refused. A conflict is a
 * `StrataError` with code `conflict`.
 */
export interface Ledger {
  /** A taken name is a conflict. */
  createSession(session: NewSession): Promise<SessionRecord>;
  findSession(id: string): Promise<SessionRecord | null>;
  /** The latest changed first. */
  listSessions(filter?: SessionFilter): Promise<readonly SessionRecord[]>;
  /** Creates a session that points at a completed turn and shares everything before it. */
  forkSession(fork: NewFork): Promise<SessionRecord>;
  /** Points a session at another completed turn. Deletes nothing. */
  moveSession(id: string, turnId: string): Promise<SessionRecord>;
  /** An archived session takes no turns until it is active again. */
  setStatus(id: string, status: SessionRecord["status"]): Promise<SessionRecord>;
  /** Removes a session with everything that only it uses, and the sessions it started. */
  deleteSession(id: string, options?: DeleteOptions): Promise<Deletion>;
  /** Every move of the pointer, oldest first. */
  pointerHistory(id: string): Promise<readonly PointerMove[]>;

  /** Takes the lease on the session and opens a turn in it. */
  openTurn(turn: NewTurn): Promise<OpenTurn>;
  /** The open turn of a session, if no process works on it. Marks it interrupted. Null for none. */
  findUnfinished(sessionId: string): Promise<UnfinishedTurn | null>;
  /** Continues an interrupted turn after its last complete call. */
  resumeTurn(sessionId: string): Promise<OpenTurn>;
  /** Ends an interrupted turn as failed. Its calls stay in the bill. */
  abandonTurn(sessionId: string): Promise<void>;

  /** Null if nothing was stored yet. */
  readState(sessionId: string): Promise<JsonText | null>;
  /** The states of an agent's latest sessions with a model, the latest opened first. Archived sessions are left out. */
  readLatestStates(of: SessionsOf): Promise<readonly JsonText[]>;
  /** Content by its hash. Null for none. */
  readContent(hash: ContentHash): Promise<string | null>;
  /**
   * From the root to the head, or to a turn, completed turns only: the latest compaction's summary, then what
   * it kept and what followed. A named turn that is still open is read as far as it got, so that this is what
   * its next call sends. `whole` also reads what compactions hide, without summaries.
   */
  readThread(of: ThreadOf, options?: { readonly whole?: boolean }): AsyncIterable<ThreadMessage>;
  findTurn(id: string): Promise<TurnRecord | null>;
  /** Every turn on the way to a session's head, oldest first, including compactions. */
  readTurns(of: ThreadOf): AsyncIterable<TurnRecord>;
  /** Everything in a turn, in order, also if the turn failed. */
  readMessages(turnId: string): Promise<readonly ThreadMessage[]>;
  readCalls(turnId: string): Promise<readonly CallRecord[]>;
  readToolCalls(turnId: string): Promise<readonly ToolCallRecord[]>;

  /** Billed calls of unknown price. They are in no sum of costs. */
  readUnpriced(sessionIds: readonly string[]): Promise<readonly UnpricedCalls[]>;

  /** Records a call without a turn, and adds its cost to the session. */
  recordCall(call: LoneCall, more?: WithLoneCall): Promise<void>;
  /** The calls of a session that belong to no turn, oldest first. */
  readLoneCalls(sessionId: string): Promise<readonly LoneCall[]>;
  /** What the calls of a kind cost since a time, over all sessions. */
  sumLoneCalls(kind: LoneCall["kind"], sinceMs: number): Promise<bigint>;

  /** Records what a provider will be asked to keep. This process looks after it. A taken id is a conflict, as is a session that is not there. */
  addResource(resource: NewResource): Promise<void>;
  /** Records a step of a resource that is not gone, in one transaction with its call. If the resource is gone, nothing changes: false. */
  changeResource(id: string, change: ResourceChange): Promise<boolean>;
  /** Oldest first. Those of deleted sessions are here until they are gone. */
  listResources(filter?: ResourceFilter): Promise<readonly ResourceRecord[]>;

  /**
   * Records calls that the gateway saw, in one transaction, with their conversations, new blocks and events. A call that is
   * stored already is not stored again; one that no ledger can take does not keep the others out.
   */
  recordCalls(calls: readonly GatewayCall[]): Promise<RecordedCalls>;
  /** The calls of a conversation, oldest first. */
  readGatewayCalls(conversationId: string): Promise<readonly GatewayCall[]>;
  /** What a call of a conversation sent, block by block. */
  readPrompt(conversationId: string, callId: string): Promise<ConversationPrompt>;
  /**
   * Marks that a process begins to record calls, so that a later one finds out if it was killed. `continues`: the run that
   * this process began before.
   */
  openGatewayRun(continues?: string): Promise<OpenGatewayRun>;
  /** The latest first; 50 by default. */
  readGatewayRuns(limit?: number): Promise<readonly GatewayRun[]>;
  /** After calls that the gateway saw. If two states have one prompt, the later call's stays, in whatever order they are written. */
  keepStates(states: readonly ConversationState[]): Promise<void>;
  /** Those that fit a request, the latest first. A bounded number. */
  findStates(question: StateQuestion): Promise<readonly ConversationState[]>;
  /** Deletes states that ended before, some thousands at most. */
  sweepStates(beforeMs: number): Promise<SweptStates>;

  /** Every key of a gateway that has spent something. Conversations that were deleted are in it. */
  sumKeySpending(since: SpendingSince): Promise<readonly KeySpending[]>;

  /** The calls by which gateways kept caches warm, begun since then. Budgets keep them few. */
  listWarming(sinceMs: number): Promise<readonly WarmingCost[]>;

  /** What engines spent, in pico-dollars: from columns and indexes, without reading a conversation. */
  sumSpending(by: SpentBy): Promise<bigint>;

  /** Adds a message to the end of a session's queue. A taken id is a conflict. */
  enqueue(item: NewQueueItem): Promise<QueueItem>;
  /** What waits in a session, and what was dropped with a line that no turn has listed yet. Oldest first. */
  readQueue(sessionId: string): Promise<readonly QueueItem[]>;
  /** Waiting, taken or dropped. Null for none. */
  findQueued(id: string): Promise<QueueItem | null>;
  /** Returns those that still waited. */
  dropQueued(ids: readonly string[], how: QueueDrop): Promise<readonly string[]>;

  /** Takes the lock for compacting a session. Null if another holder has it. It is renewed while it is held. */
  lockCompaction(sessionId: string, lifetime?: LockLifetime): Promise<CompactionLock | null>;
  /** Removes locks that expired at least `olderThanMs` ago, and returns how many. */
  dropStaleLocks(olderThanMs: number): Promise<number>;
  /** The latest compaction on the way to a session's head, or to a turn. Null for none. */
  findCompaction(of: ThreadOf): Promise<CompactionRecord | null>;
  /** The foundation that a turn on that way brought for a model, since the latest compaction. Null for none. */
  findFoundation(of: ThreadOf, model: ModelName): Promise<TurnFoundation | null>;
  /** The latest first. */
  readCompactions(sessionId: string, limit?: number): Promise<readonly CompactionRecord[]>;

  /** Searches what compactions hide. Best passages first, one per message. The first search indexes the hidden part. */
  searchHistory(query: HistoryQuery): Promise<FoundHistory>;
  /** Turns of a session's thread as plain text, hidden or not, within the range. */
  readHistory(range: HistoryRange): Promise<HistoryPage>;
  /** Where a session's thread answers a tool use; the latest if the id repeats. Null for nowhere. */
  findToolResult(sessionId: string, toolUseId: string): Promise<ToolResultPlace | null>;
  /** All or none. Drops events of a deleted session, because deletion is final. */
  appendEvents(events: readonly StrataEvent[]): Promise<void>;
  /** In id order. */
  readEvents(query: EventQuery): AsyncIterable<StrataEvent>;

  /** A session with everything it depends on, one JSON value per line. */
  exportSession(id: string): AsyncIterable<string>;
  /** Stores an export, under its own name or another one. */
  importSession(lines: AsyncIterable<string>, options?: ImportOptions): Promise<SessionRecord>;
  /** Removes older events, except audit events, and returns how many. */
  sweepEvents(beforeMs: number): Promise<number>;
  /** Stores the sums of hours that are over or changed, from which questions are answered. Of several processes one does it. */
  catchUp(options?: CatchUpOptions): Promise<CaughtUp>;
  /** Prices calls again that began in the window. Their sessions' costs follow. What a gateway's keys have spent stays. */
  reprice(options: RepriceOptions): Promise<Repriced>;
  /** Every broken invariant, in words. Empty if there are none. */
  check(onProgress?: (checked: number) => void): AsyncIterable<string>;
  /** Repairs what can be repaired without guessing, in one transaction. Every change, in words. */
  repair(): AsyncIterable<string>;
  stats(): Promise<LedgerStats>;
  close(): Promise<void>;
}

/** A session with everything around it that sub-agents made; all sessions of an agent; or everything since a time. */
export type SpentBy =
  | { readonly sessionId: string }
  | { readonly agent: string }
  | { readonly sinceMs: number };

export interface CatchUpOptions {
  /** Stops after the batch during which this time is over. Without it, everything is stored. */
  readonly budgetMs?: number;
  /** About how many calls a batch reads: others wait for a batch. */
  readonly callsPerBatch?: number;
  readonly onBatch?: (done: CaughtUp) => void;
}

export interface RepriceOptions {
  readonly fromMs: number;
  /** Not included. */
  readonly toMs: number;
  /** Null leaves a call as it is. */
  readonly priceOf: (call: PricedCall) => bigint | null;
  /** Whether replies of a provider may name what it charges. Its calls stay as they are. Default: none. */
  readonly mayNameCosts?: (provider: string) => boolean;
  /** Changes nothing. */
  readonly isDry?: boolean;
}

export interface PricedCall {
  readonly model: string;
  readonly usage: Usage;
  readonly startMs: number;
  /** Undefined for the usual service. */
  readonly serviceTier: string | undefined;
}

export interface Repriced {
  /** Calls with usage that were looked at. */
  readonly seen: number;
  readonly changed: number;
  /** Looked at and left as they were: `priceOf` gave no price. */
  readonly unpriced: number;
  /** Not looked at: the cost is not that of the usage alone. */
  readonly otherCount: number;
  /** Not looked at: the reply named the cost, or may have. */
  readonly namedCount: number;
  readonly differencePicoUsd: bigint;
}

export interface CaughtUp {
  /** Hours whose sums were stored. */
  readonly hours: number;
  /** Whether all hours before the present one are. */
  readonly isComplete: boolean;
  /** Whether another process does it. */
  readonly isBusy: boolean;
}

/** A running turn. It holds the lease on its session; a holder that lost the lease cannot commit. */
export interface OpenTurn {
  readonly id: string;
  readonly sessionId: string;
  readonly parentTurnId: string | null;
  /** Records a call with everything new in it. Durable once it resolves. */
  append(entry: CallEntry, more?: WithCall): Promise<void>;
  /** Records the tool results for the last call before they are sent. `takes`: queue items that are among the messages. */
  answer(messages: readonly NewMessage[], takes?: readonly string[]): Promise<void>;
  /**
   * Compacts the thread before this turn while it runs. The compaction may keep this turn from one of its
   * messages on. If the turn then fails, the summary stays, and the next turn follows it.
   */
  compact(
    compaction: NewCompaction,
    lock: CompactionLock,
    events?: readonly StrataEvent[],
  ): Promise<void>;
  /** Goes on with another model. Calls that are recorded keep theirs. */
  switchModel(next: NextModel): Promise<void>;
  /** Ends the turn and releases the lease. The session points at the turn if it completed. */
  close(end: TurnEnd, events?: readonly StrataEvent[]): Promise<void>;
  /** Stops working on the turn without closing it. Any process may resume it. */
  release(): Promise<void>;
}

/** Recorded in the same transaction as a call. */
export interface WithCall {
  /** Tokens of each message of `sent`, then of the reply. */
  readonly tokens?: readonly number[];
  /** Whether later calls repeat these messages. Default: if the reply is complete. */
  readonly isReplayed?: boolean;
  /** The session's state: anchors, pace, refuted promises, calibration. */
  readonly stateJson?: JsonText;
  readonly events?: readonly StrataEvent[];
  /** Ends the turn with this call, as `close` does. */
  readonly end?: Omit<TurnEnd, "stateJson">;
}

/** Recorded in the same transaction as a call without a turn. */
export interface WithLoneCall {
  /** The state that the call taught, and the head it was learned at. Not stored if a turn runs or the head has moved. */
  readonly state?: { readonly json: JsonText; readonly headTurnId: string | null };
  readonly events?: readonly StrataEvent[];
}

export interface LockLifetime {
  /** How long it lasts without being renewed; as long as a lease by default. */
  readonly lockMs?: number;
}

/** The right to compact a session. A holder that lost it cannot commit a compaction. */
export interface CompactionLock {
  readonly sessionId: string;
  readonly holder: string;
  /** The fencing token: a later holder has a higher one. */
  readonly token: number;
  /** Appends a compaction outside a running turn. */
  commit(compaction: NewCompaction, events?: readonly StrataEvent[]): Promise<void>;
  /** Stores the session's state after a failed compaction, outside a running turn. */
  giveUp(stateJson: JsonText): Promise<void>;
  release(): Promise<void>;
}

export interface NewFork {
  /** The new session's name. */
  readonly id: string;
  /** A completed turn, or a session for its head. */
  readonly from: ThreadOf;
  /** The session whose agent, role, model, foundation and setup it copies. Default: the forked one. */
  readonly like?: string;
}

/** As recorded with turns. */
export interface ModelName {
  readonly model: string;
  readonly provider: string;
}

/** The sessions of an agent in one role with one model: those it was opened in, or those it was started in by another session. */
export interface SessionsOf extends ModelName {
  readonly agent: string;
  readonly role: AgentRole;
  readonly areSubAgents: boolean;
  readonly limit: number;
}

export type ThreadOf = { readonly sessionId: string } | { readonly turnId: string };

export interface DeleteOptions {
  /** Also deletes every session that builds on its turns. Otherwise the turns they need stay. */
  readonly withForks?: boolean;
}

export interface ImportOptions {
  /** Default: the name in the file. */
  readonly as?: string;
  /**
   * The file is one's own: the session is stored byte for byte. Default: false. The session then gets no folder, and is
   * archived until `setStatus` makes it active, because its tools and system text are those of the file.
   */
  readonly isTrusted?: boolean;
}

export interface Deletion {
  readonly sessions: readonly string[];
  readonly turns: number;
  /** Turns that stay because other sessions build on them. */
  readonly turnsKept: number;
  /** Null if the content is gone from the files, as far as the store can tell. Otherwise why not, and what to do. */
  readonly notYetScrubbed: string | null;
}

export interface EventQuery {
  readonly sessionId?: string;
  readonly types?: readonly string[];
  /** Only events after this id. */
  readonly afterId?: string;
}

/** How many calls of a turn have no price. */
export interface UnpricedCalls {
  readonly sessionId: string;
  /** Null for calls without a turn. */
  readonly turnId: string | null;
  readonly calls: number;
}

export interface LedgerStats {
  readonly store: "sqlite" | "postgres";
  readonly schema: number;
  readonly rows: Readonly<Record<string, number>>;
  readonly bytes: number;
  readonly costPicoUsd: bigint;
  /** Billed calls that are not in the cost. */
  readonly unpricedCallCount: number;
  readonly oldestMs: number | null;
  readonly newestMs: number | null;
}
