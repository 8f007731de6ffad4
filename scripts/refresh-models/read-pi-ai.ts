// Reads the data folder of an unpacked @earendil-works/pi-ai, which is newer than the version npm lets us install.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isFields, type Fields } from "../../src/core/models/read-fields.ts";
import type { TheirModel, TheirPrices, TheirRow, TheirSource } from "./their-prices.ts";

/** Our provider → their file, for the vendors' own APIs only. */
const files: Readonly<Record<string, string>> = {
  anthropic: "anthropic.json",
  openai: "openai.json",
  google: "google.json",
  deepseek: "deepseek.json",
  moonshot: "moonshotai.json",
  xai: "xai.json",
  zai: "zai.json",
  minimax: "minimax.json",
  mistral: "mistral.json",
};

/** Their data has no date; these are npm's publication days. */
const datedOn: Readonly<Record<string, string>> = { "1.5.0": "2026-11-02" };

/** All priced chat models in a data folder; null if none of the files exist. */
export function readPiAi(folder: string): TheirSource | null {
  const found = Object.entries(files).filter(([, file]) => existsSync(join(folder, file)));
  if (found.length === 0) return null;
  const version = versionAbove(folder);
  return {
    name: `pi-ai ${version}`,
    datedOn: datedOn[version] ?? null,
    models: found.flatMap(([provider, file]) =>
      chatModels(JSON.parse(readFileSync(join(folder, file), "utf8"))).map((model) =>
        toTheirModel(provider, model),
      ),
    ),
  };
}

/** Files map an API to its models. */
function chatModels(file: unknown): readonly Fields[] {
  const apis = isFields(file) ? Object.values(file).filter(isFields) : [];
  return apis.flatMap((api) =>
    Object.values(api)
      .filter(isFields)
      .filter((model) => model["type"] === "chat" && typeof model["id"] === "string"),
  );
}

function toTheirModel(provider: string, model: Fields): TheirModel {
  const cost = isFields(model["cost"]) ? model["cost"] : {};
  const tiers = Array.isArray(cost["tiers"]) ? cost["tiers"].filter(isFields) : [];
  const id = String(model["id"]);
  const prices = toPrices(cost);
  const tier = tiers[0];
  const row: TheirRow = {
    from: null,
    prices,
    tier:
      tier === undefined ? null : { above: Number(tier["inputTokensAbove"]), ...toPrices(tier) },
  };
  return {
    provider,
    id,
    names: [id.toLowerCase()],
    windowTokens: typeof model["contextWindow"] === "number" ? model["contextWindow"] : null,
    rows: prices.input === null ? [] : [row],
    caveat: null,
  };
}

/** They write 0 for a missing price. */
function toPrices(cost: Fields): TheirPrices {
  const price = (key: string): number | null => {
    const value = cost[key];
    return typeof value === "number" && value > 0 ? value : null;
  };
  return {
    input: price("input"),
    output: price("output"),
    read: price("cacheRead"),
    write: price("cacheWrite"),
    write1h: null,
  };
}

function versionAbove(folder: string): string {
  const file = join(folder, "../../../package.json");
  if (!existsSync(file)) return "of unknown version";
  return /"version":\s*"([^"]+)"/.exec(readFileSync(file, "utf8"))?.[1] ?? "of unknown version";
}
