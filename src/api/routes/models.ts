// Models and prices in force: those that are built in, with what is configured.
import { pricingVersionOf } from "../../analytics/ask-ledger.ts";
import { listModels } from "../../core/models/catalogue.ts";
import type { ModelFacts } from "../../core/models/model-facts.ts";
import { toUsdPerMTok } from "../../core/models/pico-usd.ts";
import { ratesAt } from "../../core/models/prices.ts";
import type { Asked, Found, Route, Source } from "./route.ts";
import { count, list, named, object, oneOf, orNull, text } from "./schema.ts";

const rate = text("dollars per million tokens, exact");

export const modelRoutes: readonly Route[] = [
  {
    name: "models",
    method: "GET",
    path: "/models",
    summary: "Models with their windows, caches and the prices of now",
    query: ["model", "search"],
    answer: object({
      current_pricing_version: text("the latest day on which a current price was checked"),
      data: list(
        object({
          model: text("its name"),
          provider: text("whose it is"),
          aliases: list(text("a name"), "other names of it"),
          status: oneOf(["active", "legacy", "retired"], "of its life"),
          window_tokens: count("prompt and reply"),
          output_tokens_max: orNull(count("null if none is published")),
          prices: orNull(
            object(
              {
                input_usd: rate,
                output_usd: rate,
                read_usd: orNull(rate),
                write_usd: named(orNull(rate), "by lifetime; null if it is not published"),
              },
              "for a short prompt; null if the model has no price",
            ),
          ),
          cache: object({
            marking: text("who decides what is kept"),
            minimum_tokens: orNull(
              count("a shorter prefix is not kept; null if none is published"),
            ),
            lifetimes: list(text("such as 5m"), "shortest first"),
          }),
          checked_on: text("the day on which this was checked"),
          source: text("where it is from"),
        }),
        "by name",
      ),
    }),
    errors: [],
    example: "/models?search=sonnet",
    read: listAll,
  },
];

function listAll({ query }: Asked, { catalogue, nowMs }: Source): Promise<Found> {
  const { model, search = "" } = query;
  const words = search
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  const data = listModels(catalogue)
    .filter(({ id }) => model === undefined || id === model)
    .filter(({ id, provider }) =>
      words.every((word) => `${id} ${provider}`.toLowerCase().includes(word)),
    )
    .toSorted((one, other) => (one.id < other.id ? -1 : 1))
    .map((facts) => toModel(facts, nowMs));
  const body = { current_pricing_version: pricingVersionOf(catalogue), data };
  return Promise.resolve({ body, isClosed: false });
}

function toModel(facts: ModelFacts, nowMs: number): object {
  const { id, provider, aliases, lifecycle, windowTokens, outputTokensMax, prices, cache } = facts;
  const rates = prices.kind === "priced" ? (ratesAt(prices.rows, nowMs, 0)?.rates ?? null) : null;
  return {
    model: id,
    provider,
    aliases,
    status: lifecycle.status,
    window_tokens: windowTokens,
    output_tokens_max: outputTokensMax,
    prices: rates && {
      input_usd: toUsdPerMTok(rates.inputPicoUsd),
      output_usd: toUsdPerMTok(rates.outputPicoUsd),
      read_usd: rates.readPicoUsd === null ? null : toUsdPerMTok(rates.readPicoUsd),
      write_usd: Object.fromEntries(
        Object.entries(rates.writePicoUsd).map(([lifetime, each]) => [
          lifetime,
          each === null ? null : toUsdPerMTok(each),
        ]),
      ),
    },
    cache: {
      marking: cache.marking,
      minimum_tokens: cache.minimumTokens,
      lifetimes: cache.lifetimes.map(({ lifetime }) => lifetime),
    },
    checked_on: facts.checkedOn,
    source: facts.source,
  };
}
