// Sessions: named pointers to a turn, with what they were opened with.
import type { ContentHash } from "../hash.ts";
import type { AgentRole } from "../message/assembled-context.ts";
import type { JsonText } from "../message/message.ts";
import type { NewMessage } from "./turn-record.ts";

export interface NewSession {
  /** Its name; one session has it at a time. */
  readonly id: string;
  /** Who works in it, as users call it. */
  readonly agent: string;
  readonly role: AgentRole;
  readonly model: string;
  readonly provider: string;
  /** The session that asked for this one, and the turn and tool use it was asked in. */
  readonly parent?: SessionParent;
  /** What a worker was asked to do. */
  readonly task?: string;
  readonly workspacePath?: string;
  readonly personaId?: string;
  /** T0 to T2 as they are sent, kept once however many sessions share them. */
  readonly foundation?: string;
  /** What the foundation was made of: hashes and versions, no content. */
  readonly contextJson?: JsonText;
  /** What whoever goes on with the session must know besides. */
  readonly setupJson?: JsonText;
  /** A conversation it goes on from: its first turn, completed. */
  readonly messages?: readonly NewMessage[];
}

export interface SessionParent {
  readonly sessionId: string;
  readonly turnId?: string;
  readonly toolUseId?: string;
}

export interface SessionRecord {
  readonly id: string;
  readonly agent: string;
  readonly role: AgentRole;
  readonly model: string;
  readonly provider: string;
  readonly parent: SessionParent | null;
  readonly task: string | null;
  readonly workspacePath: string | null;
  readonly personaId: string | null;
  readonly foundationHash: ContentHash | null;
  readonly contextJson: JsonText | null;
  readonly setupJson: JsonText | null;
  readonly status: "active" | "archived";
  /** The turn it points at; null before the first is closed. */
  readonly headTurnId: string | null;
  /** A turn that is running, or that nobody closed. */
  readonly openTurnId: string | null;
  /** Completed turns since it was opened or forked. */
  readonly turnCount: number;
  /** Of every call made in it, also of turns that came to nothing. */
  readonly costPicoUsd: bigint;
  readonly createdMs: number;
  readonly updatedMs: number;
}

/** One move of a session's pointer. */
export interface PointerMove {
  readonly turnId: string | null;
  readonly movedMs: number;
  readonly reason: "opened" | "turn" | "fold" | "fork" | "moved";
}

export interface SessionFilter {
  readonly status?: SessionRecord["status"] | "all";
  readonly agent?: string;
  readonly parentSessionId?: string;
  /** At most so many, the latest first; 50 by default. */
  readonly limit?: number;
  /** Only those that were changed before this one, as the last page ended. */
  readonly before?: { readonly updatedMs: number; readonly id: string };
}
