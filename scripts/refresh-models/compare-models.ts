// Compares our facts with theirs by exact names. Models that only one side has are listed too.
import { lifetimes } from "../../src/core/message/usage.ts";
import type { ModelFacts } from "../../src/core/models/model-facts.ts";
import { parseUsdPerMTok, toUsdPerMTok } from "../../src/core/models/pico-usd.ts";
import { rowAt, type Rates } from "../../src/core/models/prices.ts";
import {
  theirRowOn,
  type TheirModel,
  type TheirPrices,
  type TheirRow,
  type TheirSource,
} from "./their-prices.ts";

export interface Comparison {
  readonly source: string;
  readonly datedOn: string | null;
  readonly day: string;
  readonly compared: number;
  readonly differences: readonly Difference[];
  readonly onlyOurs: readonly string[];
  readonly onlyTheirs: readonly string[];
}

export interface Difference {
  readonly provider: string;
  readonly model: string;
  readonly field: string;
  readonly ours: string | null;
  readonly theirs: string | null;
  /** `take`: theirs is newer and can be written. `keep`: ours is newer. `look`: a person decides. */
  readonly verdict: "take" | "keep" | "look";
  readonly reason: string;
  /** Their row, if its prices can be written. */
  readonly row: TheirRow | null;
}

/** Compares windows, and the prices in force on a day. */
export function compareModels(
  ours: readonly ModelFacts[],
  theirs: TheirSource,
  day: string,
): Comparison {
  const covered = ours.filter((model) =>
    theirs.models.some((their) => their.provider === model.provider),
  );
  const pairs = covered.map((model) => ({ model, their: findTheirs(model, theirs) }));
  const used = new Set(pairs.map((pair) => pair.their));
  // A dated id that is one of our aliases is not a missing model.
  const known = new Set(ours.flatMap((model) => namesOf(model)));
  return {
    source: theirs.name,
    datedOn: theirs.datedOn,
    day,
    compared: pairs.filter((pair) => pair.their !== undefined).length,
    differences: pairs.flatMap(({ model, their }) =>
      their === undefined ? [] : differencesOf(model, their, theirs.datedOn, day),
    ),
    onlyOurs: [
      ...pairs.filter((pair) => pair.their === undefined).map((pair) => pair.model.id),
      ...ours.filter((model) => !covered.includes(model)).map((model) => model.id),
    ],
    onlyTheirs: theirs.models
      .filter((model) => !used.has(model) && !known.has(model.id.toLowerCase()))
      .map((model) => `${model.provider}:${model.id}`),
  };
}

/** Their model with the same id, otherwise one that lists our id or alias as an exact name. */
function findTheirs(model: ModelFacts, theirs: TheirSource): TheirModel | undefined {
  const own = theirs.models.filter((their) => their.provider === model.provider);
  const names = namesOf(model);
  return (
    own.find((their) => their.id.toLowerCase() === names[0]) ??
    names
      .map((name) => own.find((their) => their.names.includes(name)))
      .find((their) => their !== undefined)
  );
}

function namesOf(model: ModelFacts): readonly string[] {
  return [model.id, ...model.aliases].map((name) => name.toLowerCase());
}

function differencesOf(
  model: ModelFacts,
  their: TheirModel,
  datedOn: string | null,
  day: string,
): readonly Difference[] {
  const ourRow = model.prices.kind === "priced" ? rowAt(model.prices.rows, day) : undefined;
  const theirRow = theirRowOn(their, day);
  const { provider, id } = model;
  const about = { provider, model: id, row: null };
  const found: Difference[] = [];
  if (their.windowTokens !== null && their.windowTokens !== model.windowTokens)
    found.push({
      ...about,
      field: "window",
      ours: String(model.windowTokens),
      theirs: String(their.windowTokens),
      verdict: "look",
      reason: "windows are never written",
    });
  const tier = { ours: ourRow?.tiers[0] ?? null, theirs: theirRow?.tier ?? null };
  if ((tier.ours?.aboveTokens ?? null) !== (tier.theirs?.above ?? null))
    found.push({
      ...about,
      field: "tier.above",
      ours: textOf(tier.ours?.aboveTokens),
      theirs: textOf(tier.theirs?.above),
      verdict: "look",
      reason: "tiers are never written",
    });
  const prices = priceDifferences(ourRow?.rates ?? null, theirRow?.prices ?? null).map((each) => {
    const judged = judge(model, their, datedOn, each.theirs);
    return {
      ...about,
      ...each,
      ...judged,
      row: judged.verdict === "take" ? (theirRow ?? null) : null,
    };
  });
  const tiers =
    tier.ours === null || tier.theirs === null
      ? []
      : priceDifferences(tier.ours.rates, tier.theirs).map((each) => ({
          ...about,
          ...each,
          field: `tier.${each.field}`,
          verdict: "look" as const,
          reason: "tiers are never written",
        }));
  return [...found, ...prices, ...tiers];
}

function judge(
  model: ModelFacts,
  their: TheirModel,
  datedOn: string | null,
  price: string | null,
): Pick<Difference, "verdict" | "reason"> {
  if (price === null) return { verdict: "look", reason: "they name no such price" };
  if (their.caveat !== null) return { verdict: "look", reason: their.caveat };
  if (datedOn === null)
    return { verdict: "look", reason: "the day of their data is unknown; say it with --dated" };
  return datedOn > model.checkedOn
    ? { verdict: "take", reason: `theirs is of ${datedOn}, ours was checked ${model.checkedOn}` }
    : { verdict: "keep", reason: `ours was checked ${model.checkedOn}, theirs is of ${datedOn}` };
}

function priceDifferences(
  ours: Rates | null,
  theirs: TheirPrices | null,
): readonly Pick<Difference, "field" | "ours" | "theirs">[] {
  const shortest = lifetimes.find((lifetime) => ours?.writePicoUsd[lifetime] !== undefined);
  const hourly = shortest === "1h" ? undefined : ours?.writePicoUsd["1h"];
  const rows = [
    ["input", ours?.inputPicoUsd, theirs?.input],
    ["output", ours?.outputPicoUsd, theirs?.output],
    ["read", ours?.readPicoUsd, theirs?.read],
    [
      `write.${shortest ?? "shortest"}`,
      shortest === undefined ? null : ours?.writePicoUsd[shortest],
      theirs?.write,
    ],
    // Only one source has prices by lifetime, so a missing price is not a difference.
    ["write.1h", hourly, theirs?.write1h ?? (hourly == null ? null : toUsdPerMTok(hourly))],
  ] as const;
  return rows.flatMap(([field, our, their]) => {
    const ourPico = our ?? null;
    const theirPico = their == null ? null : parseUsdPerMTok(their, field);
    if (ourPico === theirPico) return [];
    return {
      field,
      ours: ourPico === null ? null : toUsdPerMTok(ourPico),
      theirs: theirPico === null ? null : toUsdPerMTok(theirPico),
    };
  });
}

function textOf(value: number | undefined): string | null {
  return value === undefined ? null : String(value);
}
