// One value with everything a turn runs with, for foreign agent loops and for the ledger.
import { itemsOf } from "../growing/growing-list.ts";
import type { AssembledContext } from "../message/assembled-context.ts";
import { planBudget, type Reserves, type TokenBudget } from "../tokens/budget.ts";
import type { ModelFacts } from "../models/model-facts.ts";
import type { Assembly } from "./assemble.ts";

type Assembled =
  | "systemPrompt"
  | "history"
  | "sinceEvent"
  | "tools"
  | "model"
  | "provider"
  | "tokenBudget";

export interface ContextFrame extends Omit<AssembledContext<TokenBudget>, Assembled> {
  readonly reserves?: Reserves;
  /** How many messages of the conversation stand before the turn. */
  readonly historyCount: number;
  /** Whether the event is among the messages after them; a compaction may have moved it before them. */
  readonly sendsEvent: boolean;
}

/** The assembly in layers: system prompt, history, current message and what followed it; with the remaining budget. */
export function toAssembledContext(
  assembly: Assembly,
  model: ModelFacts,
  { reserves, historyCount, sendsEvent, ...frame }: ContextFrame,
): AssembledContext<TokenBudget> {
  const messages = [...itemsOf(assembly.plainThread.messages)];
  const { system, tools } = assembly.thread.foundation;
  return {
    ...frame,
    systemPrompt: system.map(({ text }) => text).join("\n\n"),
    history: messages.slice(0, historyCount),
    sinceEvent: messages.slice(historyCount + (sendsEvent ? 1 : 0)),
    tools,
    model: model.id,
    provider: model.provider,
    tokenBudget: planBudget(model, assembly.usedTokens, reserves),
  };
}
