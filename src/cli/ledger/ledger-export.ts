// strata ledger export: every call of a window as one line, for a warehouse.
import { parseWindow } from "../../analytics/time-window.ts";
import { loadOptional } from "../../edge/providers/load-optional.ts";
import { exportParquet, type ParquetPackage } from "../../edge/stores/export-parquet.ts";
import { StrataError } from "../../core/strata-error.ts";
import { exportCalls, exportFormats, type ExportFormat } from "../../edge/stores/export-calls.ts";
import { ledgerFiles } from "../../edge/stores/open-ledger.ts";
import { writePrivateFile } from "../../edge/stores/write-private-file.ts";
import { formatCount } from "../../replay/format-figures.ts";
import type { CommandBody } from "../command.ts";
import { useLedger } from "../use-ledger.ts";
import { writeLines } from "../write-lines.ts";
import { toJsonLine } from "./render-ledger.ts";

export const run: CommandBody = (input, io) => {
  const { values, switches } = input;
  const file = values.get("out");
  const isJson = switches.has("json");
  const force = switches.has("force");
  if (file === undefined && (isJson || force)) {
    throw new StrataError(
      "usage",
      `${isJson ? "--json" : "--force"} needs --out`,
      "add --out FILE; without it the calls themselves are printed",
    );
  }
  const format = readFormat(values.get("format") ?? "ndjson");
  const [from, to] = [values.get("from"), values.get("to")];
  const given = { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
  const window = parseWindow(given, Date.now());
  return useLedger(input, io, async ({ database }, place) => {
    if (file === undefined) {
      await database.snapshot(async (snapshot) => {
        for await (const line of exportCalls(snapshot, window, printable(format)))
          io.out(`${line}\n`);
      });
      return 0;
    }
    const except = ledgerFiles(place.where);
    const parquet = format === "parquet" ? await loadParquet() : null;
    const count = await writePrivateFile(file, { force, except }, (unfinished) =>
      database.snapshot((snapshot) =>
        parquet === null
          ? writeLines(unfinished, exportCalls(snapshot, window, printable(format)))
          : exportParquet(snapshot, window, { file: unfinished, parquet }),
      ),
    );
    const calls = format === "csv" ? count - 1 : count;
    io.out(
      isJson
        ? toJsonLine({ store: place.name, file, format, calls })
        : `${file} holds ${formatCount(calls, "call")} of ${place.name} as ${format}.\n`,
    );
    return 0;
  });
};

function printable(format: ExportFormat): Exclude<ExportFormat, "parquet"> {
  if (format !== "parquet") return format;
  throw new StrataError("usage", "--format parquet needs --out", "add --out FILE");
}

function loadParquet(): Promise<ParquetPackage> {
  return loadOptional(() => import("hyparquet-writer"), {
    names: ["hyparquet-writer"],
    purpose: "Parquet files are written by a package of its own",
    otherwise: "use --format ndjson or csv",
  });
}

function readFormat(text: string): ExportFormat {
  const found = exportFormats.find((each) => each === text);
  if (found !== undefined) return found;
  throw new StrataError(
    "usage",
    `--format cannot be "${text}"`,
    `there are: ${exportFormats.join(", ")}; see: strata ledger export --help`,
  );
}
