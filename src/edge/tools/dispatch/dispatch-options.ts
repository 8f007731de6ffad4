// The options of a dispatcher, and its limits.
import type { Message } from "../../../core/message/message.ts";
import type { Redact } from "../../../core/events/redact-secrets.ts";
import type { AgentRole } from "../../../core/message/assembled-context.ts";
import { requireLeasts } from "../../../core/tools/check-limits.ts";
import type { SideEffects, ToolErrorClass, ToolOutput } from "../../../core/tools/tool.ts";
import type { Toolset } from "../../../core/tools/toolsets.ts";
import type { EventBus } from "../../events/event-bus.ts";
import type { ScopedFiles } from "../../files/guard/scoped-files.ts";
import type { Confirm } from "./confirmation.ts";
import type { KeepOutput } from "./keep-output.ts";
import type { ScopedTool } from "../scoped-tool.ts";
import type { SharedChain } from "./tool-trace.ts";

export interface DispatcherOptions {
  readonly tools: readonly ScopedTool[];
  /** What the session may use of them. Missing means everything. A role may get less. */
  readonly toolset?: Toolset;
  readonly workspace?: ScopedFiles;
  /** Asked before a tool with one of the `confirmed` side effects runs. Without it, no confirmation is needed. */
  readonly confirm?: Confirm;
  /** Side effects that need confirmation. Default: execute and network. */
  readonly confirmed?: readonly SideEffects[];
  readonly events?: Pick<EventBus, "emit">;
  /** Where long outputs go. Default: the workspace's own folder, or nowhere without a workspace. */
  readonly keepOutput?: KeepOutput;
  readonly limits?: Partial<DispatchLimits>;
  /** Takes secrets out of everything that a tool gives back, before it is stored, sent or shown. */
  readonly redact?: Redact;
  /** Receives how each use ended, including what the model does not see. */
  readonly onSettled?: (settled: SettledUse) => void;
  /** Receives problems beside the tools: an event or an output that was refused or cut. */
  readonly onProblem?: (problem: unknown) => void;
}

export interface DispatchLimits {
  /** Per session. */
  readonly atOnceMax: number;
  readonly timeoutMs: number;
  /** For tools that run programs or use the network. */
  readonly longTimeoutMs: number;
  readonly graceMs: number;
  readonly confirmationMs: number;
  readonly inputCharactersMax: number;
  /** For a result as the model sees it. */
  readonly outputBytesMax: number;
}

export const dispatchLimits: DispatchLimits = {
  atOnceMax: 4,
  timeoutMs: 60_000,
  longTimeoutMs: 600_000,
  graceMs: 30_000,
  confirmationMs: 300_000,
  inputCharactersMax: 8_000_000,
  outputBytesMax: 50_000,
};

/** The smallest sensible values. Timers hold at most 24 days; longer limits end then. */
const leasts: DispatchLimits = {
  atOnceMax: 1,
  timeoutMs: 1,
  longTimeoutMs: 1,
  graceMs: 0,
  confirmationMs: 1,
  inputCharactersMax: 1,
  outputBytesMax: 1,
};

/** Throws a `StrataError` for an invalid limit of the dispatcher or of a tool. */
export function checkDispatchLimits({
  limits,
  tools,
}: Pick<DispatcherOptions, "limits" | "tools">): DispatchLimits {
  const all = { ...dispatchLimits, ...limits };
  requireLeasts("the dispatcher", { ...all }, { ...leasts });
  for (const { definition, timeoutMs = 1, outputBytesMax = 1 } of tools) {
    const own = { timeoutMs, outputBytesMax };
    requireLeasts(`the tool ${definition.name}`, own, { timeoutMs: 1, outputBytesMax: 1 });
  }
  return all;
}

export interface DispatchContext {
  readonly sessionId: string;
  readonly turnId: string;
  readonly role: AgentRole;
  /** The number of the requesting reply. The dispatcher counts if it is missing. */
  readonly replyNumber?: number;
  readonly signal?: AbortSignal;
  /** Called when a use begins to run, and when it is over; a use that is refused is only over. */
  readonly onUse?: (progress: UseProgress) => void;
  /** The turn's events so far. Without it, a tool's events only refer to each other. */
  readonly chain?: SharedChain;
}

export interface UseProgress {
  readonly toolUseId: string;
  /** False when it begins to run. */
  readonly isOver: boolean;
  /** The session of the sub-agent that it started. */
  readonly spawnedSessionId?: string | undefined;
  /** Its result, as soon as it is over: others may still run. */
  readonly message?: Message;
}

export interface SettledUse {
  readonly toolUseId: string;
  readonly toolName: string;
  readonly latencyMs: number;
  readonly output: ToolOutput | null;
  readonly failure: ToolFailure | null;
}

export interface ToolFailure {
  readonly errorClass: ToolErrorClass;
  readonly message: string;
  /** Whether people should see it too, not only the model. */
  readonly isUserVisible: boolean;
  /** The thrown value, if it was not a `ToolError`. */
  readonly cause?: unknown;
}
