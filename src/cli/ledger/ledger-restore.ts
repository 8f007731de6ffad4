// strata ledger restore: a backup of JSON lines, into an empty ledger of either kind.
import { restoreLedger } from "../../edge/stores/restore-ledger.ts";
import { formatCount } from "../../replay/page/format-figures.ts";
import type { CommandBody } from "../command.ts";
import { openLines } from "../read-lines.ts";
import { toJsonLine } from "./render-ledger.ts";
import { settleLines } from "../settle-lines.ts";
import { useMadeLedger } from "../use-ledger.ts";

export const run: CommandBody = async (input, io) => {
  const [file = ""] = input.operands;
  const lines = await openLines(file);
  return useMadeLedger(input, io, async ({ ledger, database }, place) => {
    const { schema } = await ledger.stats();
    await using settled = await settleLines(file, lines);
    const restored = await restoreLedger(database, schema, settled.lines);
    io.out(
      input.switches.has("json")
        ? toJsonLine({ store: place.name, ...restored })
        : `${place.name} has ${formatCount(restored.sessions, "session")} now, in ${formatCount(restored.rows, "row")}. strata ledger check looks at all of them.\n`,
    );
    return 0;
  });
};
