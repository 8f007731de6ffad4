// strata models show: everything known about one model, for people or as one JSON object.
import {
  describeModel,
  type CacheDescription,
  type ModelDescription,
  type PriceDescription,
  type RatesDescription,
} from "../../core/models/describe-model.ts";
import type { WireRules } from "../../core/models/wire-rules.ts";
import { resolveModel } from "../../core/models/resolve-model.ts";
import type { CommandBody } from "../command.ts";
import { readCatalogue } from "../../host/config/read-catalogue.ts";
import { renderIndented } from "../table.ts";

export const run: CommandBody = (input, io) => {
  const [asked = ""] = input.operands;
  const { facts, matched } = resolveModel(asked, readCatalogue(input.values.get("models")));
  const model = describeModel(facts, { at: Date.now() });
  io.out(
    input.switches.has("json")
      ? `${JSON.stringify({ asked, matched, ...model }, undefined, 2)}\n`
      : renderModel(model, asked, matched),
  );
  return Promise.resolve(0);
};

function renderModel(model: ModelDescription, asked: string, matched: string): string {
  const { cache } = model;
  const spelled = asked === model.id ? [] : [["asked as", `${asked} (${matched})`]];
  const rows = [
    ...spelled,
    ["provider", `${model.provider}, by ${model.route}`],
    ["status", [model.status, retires(model)].join("")],
    ["window", `${count(model.windowTokens)} tokens, output up to ${count(model.outputTokensMax)}`],
    ...prices(model),
    ["caching", describeMarking(cache)],
    ...describeLifetimes(cache),
    [
      "minimum",
      model.minimumTokens === null ? "not known" : `${count(model.minimumTokens)} tokens`,
    ],
    ...describeStored(cache),
    ["tokenizer", model.tokenizer],
    ["chat wire", describeWire(model.wire)],
    ["can", model.can.join(", ")],
    ["also called", model.aliases.join(", ") || "-"],
    ["source", `${model.source} (${model.checkedOn})`],
    ...model.notes.map((note) => ["note", note]),
  ];
  return `${model.id}\n${renderIndented(rows)}`;
}

function retires({ retiresOn }: ModelDescription): string {
  return retiresOn === null ? "" : `, retires ${retiresOn}`;
}

function prices(model: ModelDescription): string[][] {
  if (model.usdPerMTok === null) return [["price", `not known: ${model.unpriced ?? ""}`]];
  const { from, tiers, offPeak, ...rates } = model.usdPerMTok;
  const since = from === null ? "" : ` (since ${from})`;
  return [
    ["$/MTok", `${spellRates(rates)}${since}`],
    ...offPeakRow(offPeak),
    ...tiers.map(({ aboveTokens, ...tier }) => [`above ${count(aboveTokens)}`, spellRates(tier)]),
  ];
}

function offPeakRow(offPeak: PriceDescription["offPeak"]): string[][] {
  if (offPeak === undefined) return [];
  const { peak: _, ...rates } = offPeak;
  return [["off-peak", spellRates(rates)]];
}

function spellRates(rates: RatesDescription): string {
  return Object.entries(rates)
    .map(([name, usd]) => `${name} ${usd === null ? "?" : String(usd)}`)
    .join(", ");
}

function describeMarking({ marking, markers }: CacheDescription): string {
  if (markers === null) return marking === "none" ? "none" : `${marking}, no markers`;
  const { lookback, markersMax } = markers;
  const reach =
    lookback.kind === "positions"
      ? `looks ${lookback.positions} positions back, ${lookback.counting}`
      : `looks at the first ${lookback.explicitFirst} and the latest ${lookback.explicitLatest}`;
  return `${marking}, up to ${markersMax} markers; each ${reach}`;
}

function describeLifetimes({ lifetimes, clock }: CacheDescription): string[][] {
  if (lifetimes.length === 0) return [];
  const texts = lifetimes.map(
    ({ lifetime, writeMultiplier }) => `${lifetime} (write x${writeMultiplier ?? "?"})`,
  );
  const since = clock === "unpublished" ? "" : `, from ${clock}`;
  return [["lifetimes", `${texts.join(", ")}${since}`]];
}

/** Prefixes that the provider keeps under a name. */
function describeStored({ stored }: CacheDescription): string[][] {
  if (stored === null) return [];
  const { defaultSeconds, minimumTokens, storage } = stored;
  const rates = storage.map(
    ({ from, usdPerMTokHour }) => `$${usdPerMTokHour}${from === null ? "" : ` from ${from}`}`,
  );
  const kept = defaultSeconds === null ? "" : `for ${count(defaultSeconds)} s unless asked, `;
  const price = rates.length === 0 ? "an unknown price" : rates.join(", ");
  const size = minimumTokens === null ? "" : `, at least ${count(minimumTokens)} tokens`;
  return [["on request", `${kept}${price} per MTok and hour${size}`]];
}

function describeWire(wire: WireRules): string {
  return Object.entries(wire)
    .map(([rule, value]) => `${rule} ${String(value)}`)
    .join("; ");
}

function count(tokens: number | null): string {
  return tokens === null ? "not known" : tokens.toLocaleString("en-US");
}
