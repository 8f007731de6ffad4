// strata sessions abandon: gives up a turn that was left open.
import type { CommandBody } from "../command.ts";
import { needSession } from "../need-session.ts";
import { printResult } from "../ledger/render-ledger.ts";
import { useLedger } from "../use-ledger.ts";

export const run: CommandBody = (input, io) => {
  const [id = ""] = input.operands;
  return useLedger(input, io, async ({ ledger }, place) => {
    const { openTurnId } = await needSession(ledger, id, place);
    await ledger.abandonTurn(id);
    const session = await needSession(ledger, id, place);
    return printResult(input, io, {
      value: { session, abandonedTurnId: openTurnId },
      text: `Turn ${openTurnId ?? ""} of ${id} is abandoned; its calls stay in the bill.\n`,
    });
  });
};
