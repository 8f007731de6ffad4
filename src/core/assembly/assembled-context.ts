// One value with everything a turn runs with, for foreign agent loops and for the ledger.
import { itemsOf } from "../growing/growing-list.ts";
import type { AssembledContext } from "../message/assembled-context.ts";
import { planBudget, type Reserves, type TokenBudget } from "../tokens/budget.ts";
import type { ModelFacts } from "../models/model-facts.ts";
import { assert } from "../assert.ts";
import type { Assembly } from "./assemble.ts";
import { toCanonicalRequest } from "./canonical.ts";

type Told =
  | "systemPrompt"
  | "history"
  | "currentMessage"
  | "tools"
  | "model"
  | "provider"
  | "tokenBudget";

export interface ContextFrame extends Omit<AssembledContext<TokenBudget>, Told> {
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
  const { systemPrompt, tools } = toCanonicalRequest(assembly, {
    requestId: frame.runId,
    model: `${model.provider}:${model.id}`,
    maxOutputTokens: frame.responseTokensMax ?? model.outputTokensMax ?? 0,
  });
  return {
    ...frame,
    systemPrompt: systemPrompt ?? "",
    history: messages.slice(0, -1),
    currentMessage,
    tools,
    model: model.id,
    provider: model.provider,
    tokenBudget: planBudget(model, assembly.usedTokens, reserves),
  };
}
