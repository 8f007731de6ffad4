// The canonical message form and its invariants. Every part of Strata speaks in these values.
import type { Usage } from "./usage.ts";

/** JSON exactly as written: order, numbers and escapes kept. Parse it only where its value is needed. */
export type JsonText = string;

export type Role = "user" | "assistant" | "system" | "tool";

/** What a model reads and says, independent of any provider's spelling. */
export interface Message {
  readonly role: Role;
  readonly content: readonly Block[];
  /** The text this message came as. Set only where our own encoding would give other bytes. */
  readonly json?: JsonText;
}

export type Block =
  | TextBlock
  | ImageBlock
  | DocumentBlock
  | ToolUseBlock
  | ToolResultBlock
  | ThinkingBlock
  | RedactedThinkingBlock
  | CompactionBlock
  | OpaqueBlock;

export type BlockType = Block["type"];

interface Verbatim {
  /** The text this block came as. Set only where our own encoding would give other bytes. */
  readonly json?: JsonText;
}

export interface TextBlock extends Verbatim {
  readonly type: "text";
  readonly text: string;
}

/** The data itself, or where the provider finds it. */
export type MediaSource =
  | { readonly kind: "base64"; readonly mediaType: string; readonly data: string }
  | { readonly kind: "text"; readonly mediaType: string; readonly data: string }
  | { readonly kind: "url"; readonly url: string }
  | { readonly kind: "file"; readonly fileId: string };

export interface ImageBlock extends Verbatim {
  readonly type: "image";
  readonly source: MediaSource;
}

export interface DocumentBlock extends Verbatim {
  readonly type: "document";
  readonly source: MediaSource;
  readonly title?: string;
}

export interface ToolUseBlock extends Verbatim {
  readonly type: "tool_use";
  readonly id: string;
  readonly name: string;
  /** Text, not a value: JavaScript reorders integer-like keys and changes 1.0, 1e3 and long integers. */
  readonly inputJson: JsonText;
}

export interface ToolResultBlock extends Verbatim {
  readonly type: "tool_result";
  readonly toolUseId: string;
  readonly content: readonly Block[];
  readonly isError: boolean;
}

export interface ThinkingBlock extends Verbatim {
  readonly type: "thinking";
  readonly text: string;
  readonly signature?: string;
}

export interface RedactedThinkingBlock extends Verbatim {
  readonly type: "redacted_thinking";
  readonly data: string;
}

/** A provider's own summary of what came before. `content` is null if the summary failed. */
export interface CompactionBlock extends Verbatim {
  readonly type: "compaction";
  readonly content: string | null;
  readonly signature?: string;
}

/** A provider's block we do not understand. Kept and sent again byte for byte. */
export interface OpaqueBlock {
  readonly type: "opaque";
  readonly json: JsonText;
}

/** A message as stored in the ledger. */
export interface MessageRecord extends Message {
  /** ULID, increasing within a session. */
  readonly id: string;
  readonly sessionId: string;
  /** Microseconds since 1970, UTC. */
  readonly createdAtUs: number;
  readonly schemaVersion: 1;
  readonly metadata: MessageMetadata;
}

export interface MessageMetadata {
  /** A partial message was cut off while it arrived. It is kept but not validated. */
  readonly status: "complete" | "partial";
  readonly model?: string;
  readonly provider?: string;
  /** Why this model answered. */
  readonly routing?: string;
  readonly usage?: Usage;
  /** For tool messages: the tool_use this one answers. */
  readonly parentToolUseId?: string;
  /** What the provider sent. Never part of a hash or a comparison. */
  readonly providerRaw?: JsonText;
}
