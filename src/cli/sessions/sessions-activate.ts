// strata sessions activate: an archived session takes turns again.
import type { CommandBody } from "../command.ts";
import { needSession } from "../need-session.ts";
import { printResult } from "../ledger/render-ledger.ts";
import { useLedger } from "../use-ledger.ts";

export const run: CommandBody = (input, io) => {
  const [id = ""] = input.operands;
  return useLedger(input, io, async ({ ledger }, place) => {
    await needSession(ledger, id, place);
    const session = await ledger.setStatus(id, "active");
    return printResult(input, io, { value: session, text: `${id} is active.\n` });
  });
};
