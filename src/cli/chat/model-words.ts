// Which model answers, in words: what a change does to the cache, and what was wished for and could not be.
import { formatUsdRounded } from "../../core/models/pico-usd.ts";
import type { RouteRefusal, RouteSource } from "../../core/routing/decide-route.ts";
import type { ModelChange } from "../../engine/session/change-model.ts";
import type { CallPreview } from "../../engine/session/preview-next-call.ts";
import type { TurnPart } from "../../engine/turn/turn-handle.ts";
import { formatTokens } from "../../replay/page/in-page.ts";
import type { NoticeLevel } from "./state.ts";

/** What the next call finds in the cache and costs, and what becomes of the cache that is left. */
export function describeChange({ model, previousModel, next }: ModelChange): string {
  if (model === previousModel) return `${model} answers already.`;
  const { promptTokens, cachedTokens } = next;
  const whole = formatTokens(promptTokens);
  const found =
    cachedTokens === 0
      ? `from now on. Nothing is cached there yet: the next call sends ${whole} tokens anew`
      : `again: the next call reads ${formatTokens(cachedTokens)} of ${whole} tokens from its cache`;
  return (
    `${model} answers ${found}${describePrice(next)}.\n` +
    `The cache of ${previousModel} stays as it is, as long as its provider keeps it.`
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

/** Null where the session stays with its model, and nobody wished for another. */
export function describeRoute({
  model,
  by,
  passedOver,
  previousModel,
}: RoutePart): { readonly level: NoticeLevel; readonly text: string } | null {
  const lines = [
    ...passedOver.map(
      (each) =>
        `${each.name}, ${sources[each.by]}, cannot take this turn: ${refusals[each.reason]}.`,
    ),
    ...(previousModel === null
      ? []
      : [`${model} answers, ${sources[by]}; it was ${previousModel} before.`]),
  ];
  if (lines.length === 0) return null;
  const answers = previousModel === null ? [`${model} answers.`] : [];
  const level = passedOver.length === 0 ? "info" : "warning";
  return { level, text: [...lines, ...answers].join(" ") };
}

const sources: Readonly<Record<RouteSource, string>> = {
  message: "asked for with the message",
  sticky: "which the session stays with",
  rule: "by a rule of routing",
  pattern: "by a pattern of routing",
  delegate: "asked for by whoever gave the task",
  workspace_default: "by the workspace's default",
  global_default: "by default",
};

const refusals: Readonly<Record<RouteRefusal, string>> = {
  not_configured: "no model has that name",
  provider_unavailable: "nobody answers for it here",
  no_vision_support: "it sees no images",
  exceeds_context_window: "the conversation is too long for it",
  no_tool_support: "it has no tools",
  no_system_prompt_support: "it takes no system prompt",
  no_structured_output_support: "it gives no structured output",
};
