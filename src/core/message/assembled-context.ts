// Everything one turn is run with, in one value. Made by core/assembly, which brings the budget's type.
import type { JsonText, Message } from "./message.ts";
import type { ToolDefinition } from "./tool-definition.ts";

export const agentRoles = ["manager", "worker", "unified"] as const;

export type AgentRole = (typeof agentRoles)[number];

export interface AssembledContext<Budget> {
  readonly runId: string;
  readonly role: AgentRole;
  readonly systemPrompt: string;
  readonly history: readonly Message[];
  readonly currentMessage: Message;
  /** What the role may use, sorted. */
  readonly tools: readonly ToolDefinition[];
  readonly toolsetName: string;
  readonly permissionsGranted: readonly string[];
  readonly model: string;
  readonly provider: string;
  /** Settings only this model's provider knows. */
  readonly modelConfigJson?: JsonText;
  readonly thinkingConfigJson?: JsonText;
  readonly responseTokensMax?: number;
  readonly temperature?: number;
  readonly tokenBudget: Budget;
  readonly sessionLabel: string;
  /** Null for the first turn of a thread. */
  readonly parentTurnId: string | null;
  readonly sourceEventId?: string;
  readonly workspacePath: string;
  readonly timeoutMs: number;
  /** Aborted where the turn is given up. */
  readonly abortSignal?: AbortSignal;
}
