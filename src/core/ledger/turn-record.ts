// Turns: a tree. A session's pointer names one; its thread is the way from the root to it.
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
  /** The head the writer goes on from; null for the first turn. Another head in the ledger is a conflict. */
  readonly parentTurnId: string | null;
  readonly model: string;
  readonly provider: string;
  readonly role: AgentRole;
  readonly startMs: number;
  readonly toolset?: TurnTools;
  readonly sourceEventId?: string;
  readonly workspacePath?: string;
  /** T0 to T2 from this turn on, where it brings them for a model that had none; kept once by hash. */
  readonly foundation?: string;
  /** With it: what whoever goes on with that model must know besides. */
  readonly setupJson?: JsonText;
  /** What its first call will send, recorded before it is sent. */
  readonly messages: readonly NewMessage[];
}

/** What the agent of a turn could use. */
export interface TurnTools {
  readonly name: string;
  readonly tools: readonly string[];
  readonly permissionsGranted: readonly string[];
}

export interface NewMessage {
  readonly message: Message;
  /** As it was counted when it was sent. */
  readonly tokens: number;
  readonly source?: MessageSource;
  /** Where the message's words come from: platform, hooks, attachments; no content. */
  readonly contextJson?: JsonText;
  /** False for what is kept and never sent again, such as a reply that was cut off. */
  readonly isReplayed?: boolean;
  /**
   * The whole text of a tool result of which the message holds only a part. Kept once by hash; what a database
   * cannot hold in it (NUL, half of a surrogate pair) becomes U+FFFD.
   */
  readonly whole?: string;
}

export const messageSources = ["human", "trigger", "agent", "webhook", "cron", "event"] as const;

export type MessageSource = (typeof messageSources)[number];

/** A message with its place in the thread. */
export interface ThreadMessage {
  readonly turnId: string;
  /** Of its turn: who was talked to. */
  readonly model: string;
  readonly provider: string;
  /** From 0 within the turn. */
  readonly index: number;
  /** The call that sent it or whose reply it is. */
  readonly callNumber: number;
  readonly message: Message;
  readonly tokens: number;
  readonly source: MessageSource | null;
  readonly contextJson: JsonText | null;
  /** Over role, content and exact texts. */
  readonly hash: ContentHash;
  readonly isReplayed: boolean;
  /** Of the whole text, where the message holds only a part of it: `readContent` reads it. */
  readonly wholeHash: ContentHash | null;
}

export interface TurnRecord {
  readonly id: string;
  readonly parentTurnId: string | null;
  readonly type: "normal" | "compaction";
  readonly status: TurnStatus;
  /** Why it ended, where that is not plain from its status. */
  readonly endReason: string | null;
  readonly model: string;
  readonly provider: string;
  readonly role: AgentRole;
  readonly toolset: TurnTools | null;
  readonly permissionsUsed: readonly string[];
  readonly startMs: number;
  readonly endMs: number | null;
  readonly callCount: number;
  readonly toolCallCount: number;
  /** Of all its calls, also those whose turn failed. */
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
  /** What the session knows now, where it is not what the last call said. */
  readonly stateJson?: JsonText;
}

/** A turn that nobody closed, as far as it came. */
export interface UnfinishedTurn {
  readonly turn: TurnRecord;
  /** Every call it made, also those that failed. */
  readonly calls: readonly CallRecord[];
  /** Everything of it, replayed or not, in order. */
  readonly messages: readonly ThreadMessage[];
}

export interface ToolCallRecord {
  readonly turnId: string;
  readonly toolUseId: string;
  readonly name: string;
  /** The call whose reply asked for it. */
  readonly callNumber: number;
  readonly status: "pending" | "succeeded" | "failed" | "cancelled";
}
