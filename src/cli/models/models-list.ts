// strata models list: one line per model, prices in dollars per million tokens.
import { listModels } from "../../core/models/catalogue.ts";
import { describeModel, type ModelDescription } from "../../core/models/describe-model.ts";
import { didYouMean } from "../../core/nearest-names.ts";
import { StrataError } from "../../core/strata-error.ts";
import type { CommandBody } from "../command.ts";
import { readCatalogue } from "../../host/config/read-catalogue.ts";
import { renderTable, type Column } from "../table.ts";

export const run: CommandBody = (input, io) => {
  const at = Date.now();
  const catalogue = readCatalogue(input.values.get("models"));
  const models = listModels(catalogue).map((facts) => describeModel(facts, { at }));
  const provider = input.values.get("provider");
  checkProvider(provider, models);
  const candidates = models.filter(
    (model) => provider === undefined || model.provider === provider,
  );
  const isShown = ({ status }: ModelDescription): boolean =>
    input.switches.has("all") || status !== "retired";
  const shown = candidates.filter(isShown);
  if (input.switches.has("json")) {
    io.out(`${JSON.stringify(shown)}\n`);
    return Promise.resolve(0);
  }
  const rest = candidates.length - shown.length;
  io.out(renderTable(columns, shown));
  io.out(`\n$/MTok; write and min are for prompt caching. ${shown.length} models`);
  io.out(rest > 0 ? `; --all shows ${rest} retired ones too.\n` : ".\n");
  return Promise.resolve(0);
};

function checkProvider(provider: string | undefined, models: readonly ModelDescription[]): void {
  const known = [...new Set(models.map((model) => model.provider))];
  if (provider === undefined || known.includes(provider)) return;
  const hint = didYouMean(provider, known, `there are: ${known.join(", ")}`);
  throw new StrataError("not-found", `there is no provider "${provider}"`, hint);
}

const columns: readonly Column<ModelDescription>[] = [
  { title: "model", cell: ({ id }) => id },
  { title: "provider", cell: ({ provider }) => provider },
  { title: "window", cell: ({ windowTokens }) => shortCount(windowTokens), align: "right" },
  { title: "output", cell: ({ outputTokensMax }) => shortCount(outputTokensMax), align: "right" },
  { title: "in", cell: (model) => price(model.usdPerMTok?.input), align: "right" },
  { title: "out", cell: (model) => price(model.usdPerMTok?.output), align: "right" },
  { title: "read", cell: (model) => price(model.usdPerMTok?.read), align: "right" },
  { title: "write", cell: writes, align: "right" },
  { title: "min", cell: ({ minimumTokens }) => shortCount(minimumTokens), align: "right" },
  { title: "status", cell: ({ status }) => status },
];

/** Every write price with its lifetime, as `5m 2.5, 1h 4`. */
function writes({ usdPerMTok }: ModelDescription): string {
  if (usdPerMTok === null) return "-";
  const known = Object.entries(usdPerMTok).filter(([key]) => key.startsWith("write"));
  const texts = known.map(([key, value]) => `${key.slice("write".length)} ${String(value ?? "?")}`);
  return texts.join(", ") || "-";
}

function price(usd: number | null | undefined): string {
  return usd === null || usd === undefined ? "-" : String(usd);
}

/** 1,050,000 as 1.05M, 128,000 as 128k, 512 as it is. */
function shortCount(count: number | null): string {
  if (count === null) return "-";
  if (count >= 1_000_000) return `${Number((count / 1_000_000).toFixed(2))}M`;
  return count >= 10_000 ? `${Math.round(count / 1000)}k` : String(count);
}
