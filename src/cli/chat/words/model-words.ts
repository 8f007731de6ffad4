// Texts about which model answers: what a change does to the cache, and why a requested model was not used.
import { formatUsdRounded } from "../../../core/models/pico-usd.ts";
import type { RouteRefusal, RouteSource } from "../../../core/routing/decide-route.ts";
import type { ModelChange } from "../../../engine/session/change-model.ts";
import type { CallPreview } from "../../../engine/session/preview-next-call.ts";
import type { TurnPart } from "../../../engine/turn/turn-handle.ts";
import { formatTokens } from "../../../replay/format-figures.ts";
import type { Notice } from "../state/state.ts";

/** What the next call reads from the cache and costs, and what happens to the cache of the previous model. */
export function describeChange({ next, ...change }: ModelChange): string {
  const { name, previousName } = change;
  if (name === previousName) return `${change.model} already answers.`;
  const isOtherModel = change.model !== change.previousModel;
  const model = isOtherModel ? change.model : name;
  const previousModel = isOtherModel ? change.previousModel : previousName;
  const { promptTokens, cachedTokens } = next;
  const whole = formatTokens(promptTokens);
  const found =
    cachedTokens === 0
      ? `from now on. Nothing is cached there yet: the next call sends ${whole} tokens uncached`
      : `again: the next call reads ${formatTokens(cachedTokens)} of ${whole} tokens from its cache`;
  return (
    `${model} answers ${found}${describePrice(next)}.\n` +
    `The cache of ${previousModel} stays valid as long as its provider keeps it.`
  );
}

function describePrice({ promptTokens, cachedTokens, price }: CallPreview): string {
  if (price === null) return "";
  const [all, read] = [BigInt(Math.max(1, promptTokens)), BigInt(cachedTokens)];
  const fresh = all > read ? all - read : 0n;
  const pico = (price.cachedPicoUsd * read + price.uncachedPicoUsd * fresh) / all;
  return `, about ${formatUsdRounded(pico)}`;
}

type RoutePart = Extract<TurnPart, { readonly type: "route" }>;

/** Null if the session keeps its model and no other was requested. */
export function describeRoute({ model, by, passedOver, previousModel }: RoutePart): Notice | null {
  if (passedOver.length === 0 && previousModel === null) return null;
  const refused = passedOver.map(
    (each) => `${each.name}, ${sources[each.by]}, cannot take this turn: ${refusals[each.reason]}.`,
  );
  const answers =
    previousModel === null
      ? `${model} answers.`
      : `${model} answers, ${sources[by]}; it was ${previousModel} before.`;
  return {
    level: refused.length === 0 ? "info" : "warning",
    text: [...refused, answers].join(" "),
  };
}

const sources: Readonly<Record<RouteSource, string>> = {
  message: "requested with the message",
  sticky: "the model of the session",
  rule: "by a routing rule",
  pattern: "by a routing pattern",
  delegate: "requested by the agent that gave the task",
  workspace_default: "by the workspace default",
  global_default: "by default",
  fallback: "from the list of fallback models",
};

const refusals: Readonly<Record<RouteRefusal, string>> = {
  not_configured: "no model has that name",
  provider_unavailable: "no provider for it is available",
  no_vision_support: "it does not read images",
  exceeds_context_window: "the conversation is too long for it",
  no_tool_support: "it does not support tools",
  no_system_prompt_support: "it does not support a system prompt",
  no_structured_output_support: "it does not support structured output",
  no_prompt_caching_support: "its provider caches no prompts",
  provider_failed: "its provider does not answer",
  recently_failed: "its provider did not answer a short while ago",
};
