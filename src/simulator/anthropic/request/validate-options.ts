// Validates options against the model: thinking, tool choice, limits, sampling, pre-warming.
import { lineOf, versionOf } from "../model-version.ts";
import { textOr } from "./read-fields.ts";
import type { ReadThinking } from "./read-options.ts";
import type { MessagesRequest } from "./read-request.ts";
import { invalid, invented, type Refusal } from "../refusal.ts";

export function validateOptions(request: MessagesRequest): void {
  validateLimit(request);
  validateThinking(request);
  validateToolChoice(request);
  validateSampling(request);
  if (request.options.maxTokens === 0) validatePrewarm(request);
}

/** Whether the model thinks before it answers this request. */
export function isThinking({ options, facts }: MessagesRequest): boolean {
  const { thinking } = options;
  if (!facts.capabilities.thinking) return false;
  if (thinking === null) return facts.capabilities.thinkingByDefault;
  return thinking.type === "enabled" || thinking.type === "adaptive";
}

function validateLimit({ options, facts, requestedModel }: MessagesRequest): void {
  const { maxTokens } = options;
  if (maxTokens === null) return;
  if (maxTokens < 0) throw invalid("max_tokens: Input should be greater than or equal to 0");
  const { outputTokensMax } = facts;
  if (outputTokensMax !== null && maxTokens > outputTokensMax)
    throw invalid(
      `max_tokens: ${maxTokens} > ${outputTokensMax}, which is the maximum allowed number of output tokens for ${requestedModel}`,
    );
}

function validateThinking(request: MessagesRequest): void {
  const { options, betas } = request;
  const { thinking, maxTokens } = options;
  if (thinking === null) return;
  validateThinkingType(thinking.type, request);
  const isInterleaved = betas.has("interleaved-thinking-2025-05-14");
  if (thinking.budgetTokens !== null && maxTokens !== null && maxTokens > 0 && !isInterleaved) {
    if (thinking.budgetTokens >= maxTokens)
      throw invalid(
        "`max_tokens` must be greater than `thinking.budget_tokens`. Please consult our documentation at https://docs.claude.com/en/docs/build-with-claude/extended-thinking#max-tokens-and-context-window-size",
      );
  }
}

function validateThinkingType(type: ReadThinking["type"], request: MessagesRequest): void {
  const { capabilities: can } = request.facts;
  if (!can.thinking && type !== "disabled")
    throw invented("thinking: this model does not support thinking");
  if (type === "adaptive" && !can.adaptiveThinking)
    throw invalid("adaptive thinking is not supported on this model");
  const takes = {
    adaptive: true,
    enabled: can.budgetedThinking,
    disabled: !can.thinkingAlwaysOn,
    between_tools: can.thinkingBetweenTools,
  };
  if (!takes[type]) throw thinkingTypeRefused(type);
  const effort = effortOf(request);
  if (type === "disabled" && can.thinkingAtHighestEffort && highestEfforts.has(effort ?? ""))
    throw invented(`"thinking.type.disabled" is not supported at effort "${effort}"`);
}

const highestEfforts: ReadonlySet<string> = new Set(["xhigh", "max"]);

/** The last change among the messages overrides the request. */
function effortOf({ messages, options }: MessagesRequest): string | null {
  const changed = messages.flatMap(({ outputConfig }) =>
    outputConfig === null ? [] : [textOr(outputConfig, "effort", "")],
  );
  return changed.findLast((effort) => effort !== "") ?? options.effort;
}

function thinkingTypeRefused(type: ReadThinking["type"]): Refusal {
  return invalid(
    `"thinking.type.${type}" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.`,
  );
}

function isForced({ toolChoice }: MessagesRequest["options"]): boolean {
  return toolChoice === "any" || typeof toolChoice === "object";
}

function validateToolChoice({ options, facts, tools }: MessagesRequest): void {
  const { toolChoice, thinking } = options;
  if (isForced(options) && !facts.capabilities.forcedToolChoice)
    throw invalid('tool_choice: type "tool" and "any" are not supported for this model.');
  if (isForced(options) && tools.length === 0)
    throw invalid("tool_choice may only be specified while providing tools");
  if (typeof toolChoice === "object" && !tools.some(({ name }) => name === toolChoice.name))
    throw invalid(`Tool '${toolChoice.name}' not found in provided tools`);
  if (isForced(options) && thinking?.type === "enabled")
    throw invalid("Thinking may not be enabled when tool_choice forces tool use.");
}

function validateSampling({ sampling, facts, options }: MessagesRequest): void {
  for (const { name, isDefault } of sampling) {
    if (isDefault) continue;
    if (!facts.capabilities.samplingControls)
      throw invalid(`\`${name}\` is deprecated for this model.`);
    if (name === "temperature" && options.thinking?.type === "enabled")
      throw invalid("`temperature` may only be set to 1 when thinking is enabled.");
  }
}

/** max_tokens 0 writes the cache and generates nothing; it excludes options that shape a reply. */
function validatePrewarm({ options }: MessagesRequest): void {
  refuseTogether("max_tokens: 0", [
    [options.stream, "stream"],
    [options.thinking?.type === "enabled", 'thinking.type "enabled"'],
    [options.outputFormat !== null, "output_config.format"],
    [isForced(options), 'tool_choice "any" or "tool"'],
    [options.compaction !== null, "compaction"],
  ]);
}

/** Refuses options that a request for a summary cannot have. */
export function validateCompactionRequest({ options, facts }: MessagesRequest): void {
  const isNew = versionOf(facts.id) >= 406 || lineOf(facts.id) === "mythos";
  if (!isNew || lineOf(facts.id) === "haiku" || !facts.capabilities.compactsOnDemand)
    throw invented("compaction: not supported on this model");
  refuseTogether("compaction:", [
    [options.hasContextManagement, "context_management"],
    [options.stopSequences.length > 0, "stop_sequences"],
    [options.outputFormat !== null, "output_config.format"],
    [isForced(options), 'tool_choice "any" or "tool"'],
    [options.taskBudgetRemaining, "output_config.task_budget.remaining"],
  ]);
}

function refuseTogether(what: string, others: readonly (readonly [boolean, string])[]): void {
  for (const [isGiven, other] of others) {
    if (isGiven) throw invented(`${what} cannot be combined with ${other}`);
  }
}
