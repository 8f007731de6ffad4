// strata ledger export: every call of a window as one line, for a warehouse.
import { parseWindow } from "../../analytics/time-window.ts";
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
        for await (const line of exportCalls(snapshot, window, format)) io.out(`${line}\n`);
      });
      return 0;
    }
    const except = ledgerFiles(place.where);
    const count = await writePrivateFile(file, { force, except }, (unfinished) =>
      database.snapshot((snapshot) =>
        writeLines(unfinished, exportCalls(snapshot, window, format)),
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

function readFormat(text: string): ExportFormat {
  const found = exportFormats.find((each) => each === text);
  if (found !== undefined) return found;
  throw new StrataError(
    "usage",
    `--format cannot be "${text}"`,
    `there are: ${exportFormats.join(", ")}; see: strata ledger export --help`,
  );
}
