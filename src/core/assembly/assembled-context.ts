// One value with everything a turn runs with, for foreign agent loops and for the ledger.
import { itemsOf } from "../growing/growing-list.ts";
import type { AssembledContext } from "../message/assembled-context.ts";
import { planBudget, type Reserves, type TokenBudget } from "../tokens/budget.ts";
import type { ModelFacts } from "../models/model-facts.ts";
import { assert } from "../assert.ts";
import type { Assembly } from "./assemble.ts";

type Assembled =
  | "systemPrompt"
  | "history"
  | "currentMessage"
  | "tools"
  | "model"
  | "provider"
  | "tokenBudget";

export interface ContextFrame extends Omit<AssembledContext<TokenBudget>, Assembled> {
  readonly reserves?: Reserves;
}

/** The assembly in three layers: system prompt, history, current message; with the remaining budget. */
export function toAssembledContext(
  assembly: Assembly,
  model: ModelFacts,
  { reserves, ...frame }: ContextFrame,
): AssembledContext<TokenBudget> {
  const messages = [...itemsOf(assembly.thread.messages)];
  const currentMessage = messages.at(-1);
  assert(currentMessage !== undefined, "an assembly holds the message it was made for");
  const { system, tools } = assembly.thread.foundation;
  return {
    ...frame,
    systemPrompt: system.map(({ text }) => text).join("\n\n"),
    history: messages.slice(0, -1),
    currentMessage,
    tools,
    model: model.id,
    provider: model.provider,
    tokenBudget: planBudget(model, assembly.usedTokens, reserves),
  };
}
