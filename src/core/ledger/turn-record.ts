// Turns form a tree. A session's pointer names one turn; the thread is the path from the root to it.
import type { ContentHash } from "../hash.ts";
import type { AgentRole } from "../message/assembled-context.ts";
import type { JsonText, Message } from "../message/message.ts";
import type { Usage } from "../message/usage.ts";
import type { CallRecord } from "./call-entry.ts";

export const turnStatuses = ["pending", "completed", "failed", "interrupted"] as const;

export type TurnStatus = (typeof turnStatuses)[number];

export interface NewTurn {
  readonly id: string;
  readonly sessionId: string;
  /** The head the writer continues from. Null for the first turn. Another head in the ledger is a conflict. */
  readonly parentTurnId: string | null;
  readonly model: string;
  readonly provider: string;
  readonly role: AgentRole;
  readonly startMs: number;
  readonly toolset?: TurnTools;
  readonly sourceEventId?: string;
  readonly workspacePath?: string;
  /** T0 to T2 from this turn on, if its model had none yet. Stored once by hash. */
  readonly foundation?: string;
  /** Belongs to `foundation`: what else a process needs to continue with that model. */
  readonly setupJson?: JsonText;
  /** What the first call will send, recorded before it is sent. */
  readonly messages: readonly NewMessage[];
  /**
   * Queue items that the turn handles. An empty list: nothing may wait before it (`SessionBusy`). Without a list the turn
   * does not look at the queue.
   */
  readonly takes?: readonly string[];
}

/** A model that a turn left because its provider failed. */
export interface LeftInTurn {
  /** Its last call in the turn. */
  readonly through: number;
  readonly model: string;
  readonly provider: string;
  /** The name that finds it in a catalogue. */
  readonly name: string;
}

/** The model that a turn goes on with. */
export interface NextModel {
  readonly model: string;
  readonly provider: string;
  /** As in `NewTurn`. */
  readonly foundation?: string;
  readonly setupJson?: JsonText;
  readonly left: LeftInTurn;
  readonly stateJson: JsonText;
}

/** What the turn's agent could use. */
export interface TurnTools {
  readonly name: string;
  readonly tools: readonly string[];
  readonly permissionsGranted: readonly string[];
}

export interface NewMessage {
  readonly message: Message;
  /** The count at sending. */
  readonly tokens: number;
  readonly source?: MessageSource;
  /** The origin of the message's words: platform, hooks, attachments; no content. */
  readonly contextJson?: JsonText;
  /** False for messages that are stored but never sent again, such as a reply that was cut off. */
  readonly isReplayed?: boolean;
  /** The full text of a tool result if the message holds a part. NUL and half surrogate pairs become U+FFFD. */
  readonly whole?: string;
  /** When the tool of a tool result ran; absent if it did not run. */
  readonly ran?: { readonly startMs: number; readonly endMs: number };
}

export const messageSources = ["human", "trigger", "agent", "webhook", "cron", "event"] as const;

export type MessageSource = (typeof messageSources)[number];

/** A message with its place in the thread. */
export interface ThreadMessage {
  readonly turnId: string;
  /** The model and provider of its call. */
  readonly model: string;
  readonly provider: string;
  /** From 0 within the turn. */
  readonly index: number;
  /** The call that sent it or returned it. */
  readonly callNumber: number;
  readonly message: Message;
  readonly tokens: number;
  readonly source: MessageSource | null;
  readonly contextJson: JsonText | null;
  /** Over role, content and exact texts. */
  readonly hash: ContentHash;
  readonly isReplayed: boolean;
  /** The hash of the full text if the message holds only a part. `readContent` reads it. */
  readonly wholeHash: ContentHash | null;
  /** A ULID, increasing in a thread. Null for a message that an earlier version recorded. */
  readonly messageId: string | null;
  /** When it was recorded. Null as above. */
  readonly createdMs: number | null;
}

export interface TurnRecord {
  readonly id: string;
  readonly parentTurnId: string | null;
  readonly type: "normal" | "compaction";
  readonly status: TurnStatus;
  /** Why it ended, if the status does not say it. */
  readonly endReason: string | null;
  /** The model of its last calls. */
  readonly model: string;
  readonly provider: string;
  /** Models that it left before, oldest first. */
  readonly switches: readonly LeftInTurn[];
  readonly role: AgentRole;
  readonly toolset: TurnTools | null;
  readonly permissionsUsed: readonly string[];
  readonly startMs: number;
  readonly endMs: number | null;
  readonly callCount: number;
  readonly toolCallCount: number;
  /** The sum over all its calls, even if the turn failed. */
  readonly usage: Usage;
  readonly costPicoUsd: bigint;
  readonly sourceEventId: string | null;
  readonly workspacePath: string | null;
}

/** Tools and system text that a turn brought for its model. */
export interface TurnFoundation {
  readonly turnId: string;
  readonly foundationHash: ContentHash;
  readonly setupJson: JsonText | null;
}

export interface TurnEnd {
  readonly status: "completed" | "failed";
  readonly endMs: number;
  readonly reason?: string;
  readonly permissionsUsed?: readonly string[];
  /** The session's state, if it changed since the last call. */
  readonly stateJson?: JsonText;
}

/** A turn that was never closed, as far as it got. */
export interface UnfinishedTurn {
  readonly turn: TurnRecord;
  /** Every call it made, including failed ones. */
  readonly calls: readonly CallRecord[];
  /** All its messages, replayed or not, in order. */
  readonly messages: readonly ThreadMessage[];
}

export interface ToolCallRecord {
  readonly turnId: string;
  readonly toolUseId: string;
  readonly name: string;
  /** The call whose reply requested it. */
  readonly callNumber: number;
  readonly status: "pending" | "succeeded" | "failed" | "cancelled";
  /** Its place among the blocks of the reply. This and the rest are null where an earlier version recorded it. */
  readonly position: number | null;
  /** The parameters as the model wrote them. */
  readonly inputJson: JsonText | null;
  /** The message that asked for it, and the one with its result. */
  readonly messageId: string | null;
  readonly resultMessageId: string | null;
  /** When it ran; of a tool that an application runs, when it was asked for. Null if it did not run. */
  readonly startMs: number | null;
  /** When it was over, or was refused. */
  readonly endMs: number | null;
  /** The session that it started. */
  readonly spawnedSessionId: string | null;
}
