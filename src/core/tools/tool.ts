// A tool: what the model is told of it, what it does to the world, and how it is run.
import type { AgentRole } from "../message/assembled-context.ts";
import type { OfferedTool } from "./select-tools.ts";

/** What running it does, as events tell it; the strongest that applies. */
export type SideEffects = "none" | "read" | "write" | "execute" | "network";

export interface Tool extends OfferedTool {
  readonly sideEffects: SideEffects;
  /** Cannot run in a session without a workspace. */
  readonly requiresWorkspace?: boolean;
  /** Its own limits instead of the dispatcher's. */
  readonly timeoutMs?: number;
  readonly outputBytesMax?: number;
  /** `input` fits the schema of its definition. What it throws is told to the model. */
  run(input: ToolInput, call: ToolCallContext): Promise<ToolOutput>;
  /** Called after the signal of a running use was set, for what cannot listen to a signal. */
  cancel?(toolUseId: string): Promise<void> | void;
}

/** Parsed from the model's JSON text and checked against the tool's schema. */
export type ToolInput = Readonly<Record<string, unknown>>;

export interface ToolCallContext {
  readonly sessionId: string;
  readonly turnId: string;
  readonly toolUseId: string;
  readonly role: AgentRole;
  /** Grows with every reply: uses that one reply asked for have the same, and their order says nothing. */
  readonly replyNumber?: number;
  /** Of the event that tells of the call; null where nobody was told. */
  readonly eventId?: string | null;
  /** Set when the call is cancelled or its time is up. */
  readonly signal: AbortSignal;
}

export interface ToolOutput {
  /** For the model. */
  readonly text: string;
  /** Paths inside the workspace that were changed. */
  readonly filesModified?: readonly string[];
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

/** Why a tool could not do what it was asked. The one error a tool throws on purpose. */
export class ToolError extends Error {
  readonly errorClass: ToolErrorClass;
  /** Whether a person should see it, and not only the model. */
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
