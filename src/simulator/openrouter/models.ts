// The router's lists: its models, and the hosts of one.
import { ratesAt } from "../../core/models/prices.ts";
import { formatUsd } from "../../core/models/pico-usd.ts";
import type { SimRequest, SimResponse, SurfaceContext } from "../surface.ts";
import { refuse } from "./errors.ts";
import { findRoutedModel, listRoutedModels, type RoutedModel } from "./hosts.ts";

export function answerModels(context: SurfaceContext): SimResponse {
  const data = listRoutedModels().map((model) => ({
    ...describe(model),
    created: createdAt(model),
    top_provider: {
      context_length: model.facts.windowTokens,
      max_completion_tokens: model.facts.outputTokensMax,
      is_moderated: false,
    },
    pricing: pricingOf(model, context.nowMs),
  }));
  return json({ data }, context);
}

/** It says what a host charges, and whether it caches by itself; it leaves out how long, and from how many tokens on. */
export function answerEndpoints({ params }: SimRequest, context: SurfaceContext): SimResponse {
  const name = `${params["author"] ?? ""}/${params["slug"] ?? ""}`;
  const model = findRoutedModel(name);
  if (model === null) return refuse({ status: 404, message: "Model not found" }, context);
  const { facts, hosts } = model;
  const endpoints = hosts.map((host) => ({
    name: `${host} | ${facts.sentAs ?? facts.id}`,
    provider_name: host,
    context_length: facts.windowTokens,
    max_completion_tokens: facts.outputTokensMax,
    supports_implicit_caching: facts.cache.automatic !== null,
    pricing: pricingOf(model, context.nowMs),
    status: 0,
  }));
  return json({ data: { ...describe(model), endpoints } }, context);
}

function describe({ facts }: RoutedModel): object {
  const { sentAs, id, windowTokens, capabilities } = facts;
  const inputs = capabilities.images ? ["text", "image"] : ["text"];
  return {
    id: sentAs ?? id,
    name: id,
    context_length: windowTokens,
    architecture: { input_modalities: inputs, output_modalities: ["text"], tokenizer: "Other" },
  };
}

function createdAt({ facts }: RoutedModel): number {
  const { releasedOn } = facts.lifecycle;
  return releasedOn === null ? 0 : Date.parse(releasedOn) / 1000;
}

/** Dollars per token, as text. */
function pricingOf({ facts }: RoutedModel, atMs: number): object {
  const { prices } = facts;
  const rates = prices.kind === "priced" ? ratesAt(prices.rows, atMs, 0)?.rates : undefined;
  if (rates === undefined) return {};
  const { readPicoUsd, writePicoUsd } = rates;
  const write = writePicoUsd["5m"] ?? writePicoUsd["30m"] ?? null;
  const hourly = writePicoUsd["1h"] ?? null;
  return {
    prompt: usd(rates.inputPicoUsd),
    completion: usd(rates.outputPicoUsd),
    ...(readPicoUsd === null ? {} : { input_cache_read: usd(readPicoUsd) }),
    ...(write === null ? {} : { input_cache_write: usd(write) }),
    ...(hourly === null ? {} : { input_cache_write_1h: usd(hourly) }),
  };
}

function usd(pico: bigint): string {
  return formatUsd(pico).slice(1);
}

function json(body: object, { newId }: SurfaceContext): SimResponse {
  const headers = { "content-type": "application/json", "x-request-id": newId("req_") };
  return { status: 200, headers, body: JSON.stringify(body) };
}
