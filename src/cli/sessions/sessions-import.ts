// strata sessions import: what an export wrote, under its own name or another.
import { formatCount } from "../../replay/page/format-figures.ts";
import type { CommandBody } from "../command.ts";
import { openLines } from "../read-lines.ts";
import { toJsonLine } from "../ledger/render-ledger.ts";
import { useMadeLedger } from "../use-ledger.ts";

export const run: CommandBody = async (input, io) => {
  const [file = ""] = input.operands;
  const lines = await openLines(file);
  return useMadeLedger(input, io, async ({ ledger }, place) => {
    const session = await ledger.importSession(lines, input.values.get("as"));
    io.out(
      input.switches.has("json")
        ? toJsonLine(session)
        : `${place.name} has session ${session.id} now, with ${formatCount(session.turnCount, "turn")} made in it.\n`,
    );
    return 0;
  });
};
