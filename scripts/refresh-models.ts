// npm run -s refresh-models: compares our model facts with another source and shows what differs.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { lifetimes } from "../src/core/message/usage.ts";
import { builtInCatalogue, listModels } from "../src/core/models/catalogue.ts";
import { isDay } from "../src/core/models/moment.ts";
import {
  compareModels,
  type Comparison,
  type Difference,
} from "./refresh-models/compare-models.ts";
import { readGenaiPrices } from "./refresh-models/read-genai-prices.ts";
import { readPiAi } from "./refresh-models/read-pi-ai.ts";
import type { TheirSource } from "./refresh-models/their-prices.ts";
import { withNewRow } from "./refresh-models/write-prices.ts";

const help = `Compares src/core/models/data with another source of prices, by exact names only.

  npm run -s refresh-models                          the installed @pydantic/genai-prices
  npm run -s refresh-models -- --pi-ai DIR           the data folder of an unpacked pi-ai:
                                                     npm pack @earendil-works/pi-ai && tar xzf *.tgz
                                                     DIR is package/dist/providers/data
  npm run -s refresh-models -- --json                one JSON object for programs
  npm run -s refresh-models -- --write               puts newer prices into our files, then: npm run fix
  npm run -s refresh-models -- --dated 2026-12-01    says of which day their data is, if that is not known
  npm run -s refresh-models -- --on 2027-01-01       compares the prices in force on another day

A difference is marked
  take   theirs is newer than our checkedOn: --write adds it as a row dated with their day;
         a write price they do not name becomes null, to be filled in by hand
  keep   ours was checked later: --write leaves it
  look   windows, tiers, prices by the hour or missing in theirs, undated sources: for a person

Exit status: 0 nothing to take over, 1 something to take over was not written,
             2 wrong usage, 8 the source is not there.`;

process.exitCode = main(process.argv.slice(2));

function main(args: string[]): number {
  const options = readOptions(args);
  if (typeof options === "string") {
    console.error(`${options}\nTry: npm run -s refresh-models -- --help`);
    return 2;
  }
  if (options.help) {
    console.log(help);
    return 0;
  }
  const source = options.piAi === null ? readGenaiPrices() : readPiAi(options.piAi);
  if (source === null) {
    console.error(`${options.piAi} holds none of pi-ai's data files`);
    return 8;
  }
  const dated: TheirSource = { ...source, datedOn: options.dated ?? source.datedOn };
  const comparison = compareModels(listModels(), dated, options.on);
  const written = options.write ? writeAll(comparison) : [];
  const open = modelsToTake(comparison).filter((model) => !written.includes(model));
  console.log(
    options.json
      ? JSON.stringify({ ...comparison, written }, null, 2)
      : render(comparison, written),
  );
  return open.length === 0 ? 0 : 1;
}

interface Options {
  readonly help: boolean;
  readonly json: boolean;
  readonly write: boolean;
  readonly piAi: string | null;
  readonly dated: string | null;
  readonly on: string;
}

function readOptions(args: string[]): Options | string {
  try {
    const { values } = parseArgs({
      args,
      options: {
        help: { type: "boolean", default: false },
        json: { type: "boolean", default: false },
        write: { type: "boolean", default: false },
        "pi-ai": { type: "string" },
        dated: { type: "string" },
        on: { type: "string" },
      },
    });
    for (const day of [values.dated, values.on])
      if (day !== undefined && !isDay(day)) return `"${day}" is no day like 2026-11-15`;
    return {
      help: values.help,
      json: values.json,
      write: values.write,
      piAi: values["pi-ai"] ?? null,
      dated: values.dated ?? null,
      on: values.on ?? new Date().toISOString().slice(0, 10),
    };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function modelsToTake(comparison: Comparison): readonly string[] {
  const taken = comparison.differences.filter((each) => each.verdict === "take");
  return [...new Set(taken.map((each) => each.model))];
}

/** Writes one row per model to take, and returns the models that were written. */
function writeAll(comparison: Comparison): readonly string[] {
  return modelsToTake(comparison).filter((model) => {
    const found = comparison.differences.find((each) => each.model === model && each.row !== null);
    if (found === undefined) return false;
    const file = new URL(`../src/core/models/data/${found.provider}.json`, import.meta.url);
    const text = existsSync(file)
      ? withNewRow(readFileSync(file, "utf8"), toNewRow(comparison, found))
      : null;
    if (text !== null) writeFileSync(file, text);
    return text !== null;
  });
}

function toNewRow(comparison: Comparison, found: Difference): Parameters<typeof withNewRow>[1] {
  const { prices } = builtInCatalogue.factsOf(found.model);
  const ours = prices.kind === "priced" ? prices.rows.at(-1)?.rates.writePicoUsd : undefined;
  return {
    model: found.model,
    row: found.row ?? { from: null, prices: noPrices, tier: null },
    datedOn: comparison.datedOn ?? comparison.day,
    source: comparison.source,
    shortestWrite: lifetimes.find((lifetime) => ours?.[lifetime] !== undefined) ?? null,
  };
}

const noPrices = { input: null, output: null, read: null, write: null, write1h: null };

function render(comparison: Comparison, written: readonly string[]): string {
  const { differences, onlyOurs, onlyTheirs } = comparison;
  const rows = differences.map((each) => [
    each.verdict,
    each.model,
    each.field,
    each.ours ?? "-",
    each.theirs ?? "-",
    each.reason,
  ]);
  const table = [["", "model", "field", "ours", "theirs", "why"], ...rows];
  const widths = [0, 1, 2, 3, 4].map((column) =>
    Math.max(...table.map((row) => row[column]?.length ?? 0)),
  );
  const count = (verdict: Difference["verdict"]): number =>
    differences.filter((each) => each.verdict === verdict).length;
  return [
    `${comparison.source}, ${comparison.datedOn ?? "undated"}; prices in force on ${comparison.day}`,
    "",
    ...(rows.length === 0
      ? ["no differences"]
      : table.map((row) => row.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join("  "))),
    "",
    `${comparison.compared} models compared; differences: ${count("take")} to take, ${count("keep")} to keep, ${count("look")} to look at; ${written.length} models written`,
    `only ours (${onlyOurs.length}): ${onlyOurs.join(", ")}`,
    `only theirs (${onlyTheirs.length}): ${onlyTheirs.join(", ")}`,
  ].join("\n");
}
