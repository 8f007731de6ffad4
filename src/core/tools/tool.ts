// A tool: its definition for the model, its effects on the world, and how to run it.
import type { AgentRole } from "../message/assembled-context.ts";
import type { OfferedTool } from "./select-tools.ts";

/** What running it does, for events. The strongest that applies. */
export type SideEffects = "none" | "read" | "write" | "execute" | "network";

export interface Tool extends OfferedTool {
  readonly sideEffects: SideEffects;
  /** Uses of one reply that follow each other may run together in spite of side effects, as sub-agents do. */
  readonly runsTogether?: boolean;
  /** The tool needs a workspace. */
  readonly requiresWorkspace?: boolean;
  /** Overrides the dispatcher's limits. */
  readonly timeoutMs?: number;
  readonly outputBytesMax?: number;
  /** `input` fits the definition's schema. The model sees the text of thrown errors. */
  run(input: ToolInput, call: ToolCallContext): Promise<ToolOutput>;
  /** Called after the signal of a running use was aborted, for tools that cannot listen to a signal. */
  cancel?(toolUseId: string): Promise<void> | void;
}

/** Marks a tool as one that Strata brings, so that a session can name it. */
export function ofStrata<Own extends Tool>(tool: Own): Own {
  return { ...tool, from: "strata" };
}

/** Parsed from the model's JSON text and checked against the tool's schema. */
export type ToolInput = Readonly<Record<string, unknown>>;

export interface ToolCallContext {
  readonly sessionId: string;
  readonly turnId: string;
  readonly toolUseId: string;
  readonly role: AgentRole;
  /** Grows with every reply. Tool uses of one reply share it. */
  readonly replyNumber?: number;
  /** The event of this call. Null if none was emitted. */
  readonly eventId?: string | null;
  /** Aborted if the call is cancelled or times out. */
  readonly signal: AbortSignal;
}

export interface ToolOutput {
  /** For the model. */
  readonly text: string;
  /** It ran to its end and did not succeed, as a command with another exit status than 0; the text says why. */
  readonly isFailed?: boolean;
  /** Paths inside the workspace that were changed. */
  readonly filesModified?: readonly string[];
  /** The session of the sub-agent that it started. */
  readonly spawnedSessionId?: string;
  /** For events and records, not for the model. */
  readonly metadata?: Readonly<Record<string, unknown>>;
}

export type ToolErrorClass =
  | "timeout"
  | "permission_denied"
  | "not_found"
  | "validation_error"
  | "execution_error"
  | "cancelled"
  | "user_denied"
  | "confirmation_timeout";

/** Why a tool failed. The only error a tool throws on purpose. */
export class ToolError extends Error {
  readonly errorClass: ToolErrorClass;
  /** Whether people should see it too, not only the model. */
  readonly isUserVisible: boolean;

  constructor(
    errorClass: ToolErrorClass,
    message: string,
    options: ErrorOptions & { readonly isUserVisible?: boolean } = {},
  ) {
    super(message, options);
    this.name = "ToolError";
    this.errorClass = errorClass;
    this.isUserVisible = options.isUserVisible ?? false;
  }
}
