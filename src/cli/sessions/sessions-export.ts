// strata sessions export: a session and everything it needs, as JSON lines.
import { StrataError } from "../../core/strata-error.ts";
import { ledgerFiles } from "../../edge/stores/open-ledger.ts";
import { writePrivateFile } from "../../edge/stores/write-private-file.ts";
import { formatCount } from "../../replay/format-figures.ts";
import type { CommandBody } from "../command.ts";
import { needSession, useLedger } from "../use-ledger.ts";
import { toJsonLine } from "../ledger/render-ledger.ts";
import { writeLines } from "../write-lines.ts";

export const run: CommandBody = (input, io) => {
  const [typed = ""] = input.operands;
  const file = input.values.get("out");
  const isJson = input.switches.has("json");
  const force = input.switches.has("force");
  if (file === undefined && (isJson || force)) throw withoutFile(isJson ? "--json" : "--force");
  return useLedger(input, io, async ({ ledger }, place) => {
    const { id } = await needSession(ledger, typed, place);
    if (file === undefined) {
      for await (const line of ledger.exportSession(id)) io.out(`${line}\n`);
      return 0;
    }
    const except = ledgerFiles(place.where);
    const count = await writePrivateFile(file, { force, except }, (unfinished) =>
      writeLines(unfinished, ledger.exportSession(id)),
    );
    io.out(
      isJson
        ? toJsonLine({ session: id, file, lines: count })
        : `${file} holds session ${id} in ${formatCount(count, "line")}.\n`,
    );
    return 0;
  });
};

function withoutFile(option: string): StrataError {
  return new StrataError(
    "usage",
    `${option} needs --out`,
    "add --out FILE; without it the export itself is printed",
  );
}
