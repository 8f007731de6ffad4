// What a dispatcher is made of, and its limits.
import type { AgentRole } from "../../core/message/assembled-context.ts";
import { requireLeasts } from "../../core/tools/check-limits.ts";
import type { SideEffects, ToolErrorClass, ToolOutput } from "../../core/tools/tool.ts";
import type { Toolset } from "../../core/tools/toolsets.ts";
import type { EventBus } from "../events/event-bus.ts";
import type { ScopedFiles } from "../stores/scoped-files.ts";
import type { Confirm } from "./confirmation.ts";
import type { KeepOutput } from "./keep-output.ts";
import type { ScopedTool } from "./scoped-tool.ts";
import type { SharedChain } from "./tool-trace.ts";

export interface DispatcherOptions {
  readonly tools: readonly ScopedTool[];
  /** What the session may use of them; everything where it is missing. A role may get less. */
  readonly toolset?: Toolset;
  readonly workspace?: ScopedFiles;
  /** Asked before a tool of one of `confirmed` runs. Without it nobody is asked. */
  readonly confirm?: Confirm;
  /** Which side effects are asked about: execute and network by default. */
  readonly confirmed?: readonly SideEffects[];
  readonly events?: Pick<EventBus, "emit">;
  /** Where outputs go that are too long; the workspace's own folder by default, nowhere without one. */
  readonly keepOutput?: KeepOutput;
  readonly limits?: Partial<DispatchLimits>;
  /** Told how each use ended, with what is not for the model. */
  readonly onSettled?: (settled: SettledUse) => void;
  /** Told of what went wrong beside the tools: an event or an output that was not taken, or not as a whole. */
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
  /** Of a result as the model sees it. */
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

/** The smallest value of each that makes sense. Timers hold at most 24 days; what is longer ends then. */
const leasts: DispatchLimits = {
  atOnceMax: 1,
  timeoutMs: 1,
  longTimeoutMs: 1,
  graceMs: 0,
  confirmationMs: 1,
  inputCharactersMax: 1,
  outputBytesMax: 1,
};

/** Throws a `StrataError` for a limit, of the dispatcher or of a tool, that is no number or too small. */
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

/** Whose call it is. */
export interface DispatchContext {
  readonly sessionId: string;
  readonly turnId: string;
  readonly role: AgentRole;
  /** Of the reply that asked; the dispatcher counts where it is missing. */
  readonly replyNumber?: number;
  readonly signal?: AbortSignal;
  /** The turn's events so far; without it a tool's events follow from each other only. */
  readonly chain?: SharedChain;
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
  /** Whether a person should see it, and not only the model. */
  readonly isUserVisible: boolean;
  /** What was thrown, where it was not a `ToolError`. */
  readonly cause?: unknown;
}
