// One value with everything a turn runs with. core/assembly makes it and supplies the budget's type.
import type { JsonText, Message } from "./message.ts";
import type { ToolDefinition } from "./tool-definition.ts";

export const agentRoles = ["manager", "worker", "unified"] as const;

export type AgentRole = (typeof agentRoles)[number];

/** One named piece of what a call sends. */
export interface ContextPiece {
  readonly name: string;
  /** Where it stands: T0 tools, T1 and T2 system text, T3 conversation, T5 text for one call only. */
  readonly tier: "T0" | "T1" | "T2" | "T3" | "T5";
  readonly tokens: number;
  /** `user`: the application, its files and its people. */
  readonly from: "user" | "strata";
  /** What Strata adds to a piece of the user's. */
  readonly added?: string;
}

export interface AttachedFile {
  readonly path: string;
  /** The first and the last line, from 1; absent for the whole file. */
  readonly lines?: readonly [first: number, last: number];
}

export interface AssembledContext<Budget> {
  readonly runId: string;
  readonly role: AgentRole;
  readonly systemPrompt: string;
  /** Every tool, every section of the system prompt, and everything else that is not the user's. */
  readonly pieces: readonly ContextPiece[];
  /** The conversation before the turn. */
  readonly history: readonly Message[];
  /** The event that the turn handles, with its words. */
  readonly currentMessage: Message;
  /** What the turn added since: replies, tool results, messages to the agent. */
  readonly sinceEvent: readonly Message[];
  /** Text that goes with this call only, such as the time; null for none. */
  readonly volatileText: string | null;
  /** The tools the role may use, sorted. */
  readonly tools: readonly ToolDefinition[];
  readonly toolsetName: string;
  readonly permissionsGranted: readonly string[];
  readonly model: string;
  readonly provider: string;
  /** Settings that only this model's provider understands. */
  readonly modelConfigJson?: JsonText;
  readonly thinkingConfigJson?: JsonText;
  readonly responseTokensMax?: number;
  readonly temperature?: number;
  readonly tokenBudget: Budget;
  readonly sessionLabel: string;
  /** Null for the first turn of a thread. */
  readonly parentTurnId: string | null;
  readonly sourceEventId?: string;
  /** Files that the event came with, and their lines. */
  readonly attachments: readonly AttachedFile[];
  readonly workspacePath: string;
  readonly timeoutMs: number;
  /** Aborts when the turn is cancelled. */
  readonly abortSignal?: AbortSignal;
}
