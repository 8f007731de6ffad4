// Sessions: named pointers to a turn, with their opening values.
import type { ContentHash } from "../hash.ts";
import type { AgentRole } from "../message/assembled-context.ts";
import type { JsonText } from "../message/message.ts";
import type { NewMessage } from "./turn-record.ts";

export interface NewSession {
  /** Its name, unique among sessions. */
  readonly id: string;
  /** The agent's name for users. */
  readonly agent: string;
  readonly role: AgentRole;
  readonly model: string;
  readonly provider: string;
  /** The session that started this one, with the turn and tool use that asked for it. */
  readonly parent?: SessionParent;
  /** A worker's task. */
  readonly task?: string;
  readonly workspacePath?: string;
  readonly personaId?: string;
  /** What an application finds the session by, such as `slack:channel:thread`. */
  readonly routingKey?: string;
  /** T0 to T2 as sent. Stored once, even if many sessions share them. */
  readonly foundation?: string;
  /** The sources of the foundation: hashes and versions, no content. */
  readonly contextJson?: JsonText;
  /** What else a resuming process needs. */
  readonly setupJson?: JsonText;
  /** An earlier conversation to start from. It becomes the first turn, completed. */
  readonly messages?: readonly NewMessage[];
}

export interface SessionParent {
  readonly sessionId: string;
  readonly turnId?: string;
  readonly toolUseId?: string;
}

export interface SessionRecord {
  readonly id: string;
  /** `gateway` for a conversation of another program that the gateway saw: it has no turns and is never run. */
  readonly origin: "engine" | "gateway";
  readonly agent: string;
  readonly role: AgentRole;
  readonly model: string;
  readonly provider: string;
  readonly parent: SessionParent | null;
  readonly task: string | null;
  readonly workspacePath: string | null;
  readonly personaId: string | null;
  readonly routingKey: string | null;
  readonly foundationHash: ContentHash | null;
  readonly contextJson: JsonText | null;
  readonly setupJson: JsonText | null;
  readonly status: "active" | "archived";
  /** The turn it points at. Null before the first turn closes. */
  readonly headTurnId: string | null;
  /** A running turn, or one that was never closed. */
  readonly openTurnId: string | null;
  /** Completed turns since it was opened or forked. */
  readonly turnCount: number;
  /** The cost of all its calls, including failed turns. */
  readonly costPicoUsd: bigint;
  readonly createdMs: number;
  readonly updatedMs: number;
}

export interface PointerMove {
  readonly turnId: string | null;
  readonly movedMs: number;
  readonly reason: "opened" | "turn" | "fold" | "fork" | "moved";
}

export interface SessionFilter {
  /** Only sessions of engines by default. */
  readonly origin?: SessionRecord["origin"] | "all";
  readonly status?: SessionRecord["status"] | "all";
  readonly agent?: string;
  readonly parentSessionId?: string;
  readonly routingKey?: string;
  /** 50 by default. */
  readonly limit?: number;
  /** Only sessions changed before this one, for paging. */
  readonly before?: { readonly updatedMs: number; readonly id: string };
}
