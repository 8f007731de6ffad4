// One value with everything a turn runs with. core/assembly makes it and supplies the budget's type.
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
  readonly workspacePath: string;
  readonly timeoutMs: number;
  /** Aborts when the turn is cancelled. */
  readonly abortSignal?: AbortSignal;
}
