// GET /v1/models: the provider lists its models without prices and cache minimums.
import { builtInCatalogue } from "../../core/models/catalogue.ts";
import type { ModelFacts } from "../../core/models/model-facts.ts";
import type { SimResponse } from "../surface.ts";
import { lineOf, versionOf } from "./model-version.ts";
import { invalid, jsonResponse } from "./refusal.ts";

/** Every model and alias of this API, in the order of our files. */
export const modelsByName: ReadonlyMap<string, ModelFacts> = new Map(
  builtInCatalogue.ids
    .map((id) => builtInCatalogue.factsOf(id))
    .filter(({ provider }) => provider === "anthropic")
    .flatMap((facts) => [facts.id, ...facts.aliases].map((name) => [name, facts] as const)),
);

export function listModels(query: URLSearchParams): SimResponse {
  const all = [...modelsByName].filter(([name, facts]) => name === facts.id);
  const limit = Number(query.get("limit") ?? "20");
  if (!Number.isInteger(limit) || limit < 1 || limit > 1000)
    throw invalid(
      "limit: Input should be greater than or equal to 1 and less than or equal to 1000",
    );
  const at = (name: string): number => all.findIndex(([id]) => id === query.get(name));
  const until = query.has("before_id") && at("before_id") !== -1 ? at("before_id") : all.length;
  const from = query.has("before_id") ? Math.max(0, until - limit) : at("after_id") + 1;
  const data = all.slice(from, Math.min(until, from + limit)).map(([, facts]) => toInfo(facts));
  const hasMore = query.has("before_id") ? from > 0 : from + limit < all.length;
  const ends = { first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null };
  return jsonResponse(JSON.stringify({ data, has_more: hasMore, ...ends }));
}

export function showModel(facts: ModelFacts): SimResponse {
  return jsonResponse(JSON.stringify(toInfo(facts)));
}

const lifecycles = { active: "active", legacy: "deprecated", retired: "retired" } as const;

function toInfo(facts: ModelFacts): { readonly id: string } & Readonly<Record<string, unknown>> {
  const { id, lifecycle, capabilities } = facts;
  return {
    type: "model",
    id,
    display_name: displayName(id),
    created_at: midnight(lifecycle.releasedOn) ?? "1970-01-01T00:00:00Z",
    lifecycle: lifecycles[lifecycle.status],
    deprecated_at: null,
    retires_at: midnight(lifecycle.retiresOn),
    line: lineOf(id),
    max_input_tokens: facts.inputTokensMax,
    max_tokens: facts.outputTokensMax,
    capabilities: {
      batch: supported(true),
      citations: supported(capabilities.documents),
      code_execution: supported(false),
      context_management: {
        supported: capabilities.thinking,
        clear_thinking_20251015: supported(capabilities.thinking),
        clear_tool_uses_20250919: supported(false),
        compact_20260112: supported(false),
      },
      effort: effortOf(facts),
      image_input: supported(capabilities.images),
      pdf_input: supported(capabilities.documents),
      server_tools: {
        supported: false,
        code_execution: supported(false),
        web_search: supported(false),
      },
      structured_outputs: supported(capabilities.structuredOutput),
      thinking: thinkingOf(facts),
    },
  };
}

function midnight(day: string | null): string | null {
  return day === null ? null : `${day}T00:00:00Z`;
}

function supported(isSupported: boolean): { readonly supported: boolean } {
  return { supported: isSupported };
}

function effortOf({ id, capabilities }: ModelFacts): Readonly<Record<string, unknown>> {
  const takes = capabilities.thinking && versionOf(id) >= 405;
  const levels = ["low", "medium", "high", "xhigh", "max"];
  return {
    supported: takes,
    ...Object.fromEntries(levels.map((level) => [level, supported(takes)])),
  };
}

function thinkingOf({ capabilities: can }: ModelFacts): Readonly<Record<string, unknown>> {
  return {
    supported: can.thinking,
    types: {
      adaptive: supported(can.adaptiveThinking),
      enabled: supported(can.budgetedThinking),
      disabled: supported(!can.thinkingAlwaysOn),
      between_tools: supported(can.thinkingBetweenTools),
    },
  };
}

function displayName(id: string): string {
  const words = id.split("-").map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  return words.join(" ").replace(/(\d+) (\d+)/, "$1.$2");
}
