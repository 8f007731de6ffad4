// Transcripts → requests → every policy and the limit, in dollars. A recording is what a reader makes of a file.
import type { BlockKind, PromptRole } from "../core/assembly/prompt-block.ts";
import type { Explanation } from "../core/diagnosis/explanation.ts";
import type { ContentHash } from "../core/hash.ts";
import type { Lifetime, Usage } from "../core/message/usage.ts";
import type { Tier } from "../core/tokens/budget.ts";

/** What a reader gives, in the order of the file. A session's requests follow its opening. */
export type Recorded =
  | { readonly type: "session"; readonly session: RecordedSession }
  | { readonly type: "request"; readonly sessionId: string; readonly request: RecordedRequest }
  /** A line or file that could not be used: counted and named, never dropped in silence. */
  | {
      readonly type: "skipped";
      readonly file: string;
      readonly line: number | null;
      readonly reason: string;
    };

export interface RecordedSession {
  /** Unique within a run. */
  readonly id: string;
  readonly file: string;
  readonly format: RecordingFormat;
  /** The client that made it, as far as the file says. */
  readonly agent: string | null;
  /** The protocol's name; null where the file does not say. */
  readonly wire: string | null;
  /**
   * Whether blocks are what the provider saw, pieces of one size without content, or only what the bills let one guess: one block
   * for each growth of the prompt. The last serve for explanations; no policy is tried on them.
   */
  readonly blocks: "as sent" | "hashed pieces" | "from bills";
  /** Whether requests are recorded whole, as sent; otherwise settings, tools or injected text may be missing. */
  readonly isWhole: boolean;
  /** Every session of one workspace may read what another wrote; each file is its own by default. */
  readonly workspace: string;
}

export type RecordingFormat =
  | "claude-code"
  | "codex"
  | "pi"
  | "request-log"
  | "ctx-trace/1"
  | "ctx-kv/1"
  | "gemini-cli"
  | "opencode"
  | "hermes"
  | "langchain"
  | "ai-sdk"
  | "otel"
  | "strata";

/** One request, as what changed since the one before it on the same thread. */
export interface RecordedRequest {
  /** Main thread, sub-agent or side chain within the session; the main one is empty. */
  readonly thread: string;
  /** Milliseconds since 1970, or since the start of the recording; null where unknown. */
  readonly startMs: number | null;
  readonly endMs: number | null;
  /** As recorded; null where the file does not say. */
  readonly model: string | null;
  /** How many blocks at the start of the thread's previous request this one repeats. */
  readonly keep: number;
  readonly append: readonly RecordedBlock[];
  /** The sizes of the repeated blocks, where another tokenizer counts them from here on. */
  readonly sizes?: readonly number[];
  /** Prompt tokens that belong to no block: plain input for everyone. */
  readonly remainderTokens: number;
  /** What the provider reported; null where the file has none. */
  readonly usage: Usage | null;
  /** Markers that were on the wire, by block; null where the file does not say. */
  readonly markers: readonly RecordedMarker[] | null;
  /** Settings besides blocks that can invalidate a prefix, by our names; an absent one was not sent. */
  readonly settings: Readonly<Record<string, string>>;
  /** What the engine that sent it found; absent where another client sent it. */
  readonly found?: FoundMiss;
}

export interface FoundMiss {
  readonly explanation: Explanation;
  /** Whether it follows from what was sent, or is inferred, because not everything is stored. */
  readonly evidence: "recorded" | "inferred";
}

export interface RecordedBlock {
  /** Equal hashes mean equal content; never the content itself. */
  readonly hash: ContentHash;
  readonly tokens: number;
  readonly tier: Extract<Tier, "T0" | "T1" | "T2" | "T3">;
  readonly kind: BlockKind;
  readonly role: PromptRole;
  readonly endsMessage: boolean;
  readonly mayCarryMarker: boolean;
  /** A few words for reports; only where excerpts were asked for. */
  readonly excerpt?: string;
}

export interface RecordedMarker {
  readonly block: number;
  readonly lifetime: Lifetime;
}
