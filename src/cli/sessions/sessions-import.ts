// strata sessions import: what an export wrote, under its own name or another.
import { findImported } from "../../core/ledger/imported.ts";
import type { SessionRecord } from "../../core/ledger/session-record.ts";
import { formatCount } from "../../replay/format-figures.ts";
import type { CommandBody } from "../command.ts";
import { openLines } from "../read-lines.ts";
import { printResult } from "../ledger/render-ledger.ts";
import { useMadeLedger } from "../use-ledger.ts";

export const run: CommandBody = async (input, io) => {
  const [file = ""] = input.operands;
  const lines = await openLines(file);
  return useMadeLedger(input, io, async ({ ledger }, place) => {
    const isTrusted = input.switches.has("trust");
    const as = input.values.get("as");
    const session = await ledger.importSession(lines, {
      ...(as !== undefined && { as }),
      isTrusted,
    });
    return printResult(input, io, {
      value: session,
      text: `${place.name} has session ${session.id} now, with ${formatCount(session.turnCount, "turn")} made in it.\n${isTrusted ? "" : explain(session)}`,
    });
  });
};

function explain(session: SessionRecord): string {
  const folder = findImported(session)?.workspacePath ?? null;
  const place = folder === null ? "" : `, not in ${folder}, which the file names`;
  return (
    `It works in the folder it is resumed in${place}.\n` +
    `It is archived until you accept its tools and system text, which come from the file: look at them with\n` +
    `  strata sessions show ${session.id} --system\n` +
    `and then: strata sessions activate ${session.id}\n`
  );
}
