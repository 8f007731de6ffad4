// Reads the installed @pydantic/genai-prices by exact names. Its own lookup matches prefixes and would price
// claude-sonnet-5-5 as claude-sonnet-5.
import { readFileSync } from "node:fs";
import {
  findProvider,
  type MatchLogic,
  type ModelInfo,
  type ModelPrice,
} from "@pydantic/genai-prices";
import type { TheirModel, TheirPrices, TheirRow, TheirSource } from "./their-prices.ts";

/** Our provider → theirs. They have no Qwen. */
const providers: Readonly<Record<string, string>> = {
  anthropic: "anthropic",
  openai: "openai",
  google: "google",
  deepseek: "deepseek",
  moonshot: "moonshotai",
  xai: "x-ai",
  zai: "zai",
  minimax: "minimax",
  mistral: "mistral",
};

/** The package has no date for its data; these are npm's publication days. */
const datedOn: Readonly<Record<string, string>> = { "0.1.8": "2026-09-23" };

/** All chat models of the providers we cover. */
export function readGenaiPrices(): TheirSource {
  const version = installedVersion();
  return {
    name: `@pydantic/genai-prices ${version}`,
    datedOn: datedOn[version] ?? null,
    models: Object.entries(providers).flatMap(([provider, theirs]) =>
      (findProvider({ providerId: theirs })?.models ?? [])
        // Their Google also lists Claude; those are Vertex's prices, not the vendor's.
        .filter((model) => provider === "anthropic" || !model.id.startsWith("claude"))
        .map((model) => toTheirModel(provider, model)),
    ),
  };
}

function toTheirModel(provider: string, model: ModelInfo): TheirModel {
  const conditional = Array.isArray(model.prices) ? model.prices : [{ prices: model.prices }];
  const byHour = conditional.some((each) => each.constraint?.type === "time_of_date");
  return {
    provider,
    id: model.id,
    names: [model.id, ...exactNames(model.match)].map((name) => name.toLowerCase()),
    windowTokens: model.context_window ?? null,
    rows: conditional
      .filter((each) => each.constraint?.type !== "time_of_date")
      .map((each) =>
        toRow(
          each.constraint?.type === "start_date" ? each.constraint.start_date : null,
          each.prices,
        ),
      ),
    caveat: byHour ? "the price depends on the hour; theirs is the one outside peak hours" : null,
  };
}

function toRow(from: string | null, prices: ModelPrice): TheirRow {
  const above = tierStart(prices);
  return {
    from,
    prices: pricesAt(prices, 0),
    tier: above === null ? null : { above, ...pricesAt(prices, above + 1) },
  };
}

function pricesAt(prices: ModelPrice, tokens: number): TheirPrices {
  const price = (key: string): number | null => {
    const value = prices[key];
    if (value === undefined || typeof value === "number") return value ?? null;
    return value.tiers.findLast((tier) => tokens > tier.start)?.price ?? value.base;
  };
  return {
    input: price("input_mtok"),
    output: price("output_mtok"),
    read: price("cache_read_mtok"),
    write: price("cache_write_mtok"),
    write1h: price("cache_write_1h_mtok"),
  };
}

function tierStart(prices: ModelPrice): number | null {
  const input = prices["input_mtok"];
  return input === undefined || typeof input === "number" ? null : (input.tiers[0]?.start ?? null);
}

/** Only names they compare by equality, not prefixes or patterns. */
function exactNames(match: MatchLogic): readonly string[] {
  if ("equals" in match) return [match.equals];
  return "or" in match ? match.or.flatMap(exactNames) : [];
}

function installedVersion(): string {
  const file = new URL("../../node_modules/@pydantic/genai-prices/package.json", import.meta.url);
  const found = /"version":\s*"([^"]+)"/.exec(readFileSync(file, "utf8"));
  return found?.[1] ?? "of unknown version";
}
