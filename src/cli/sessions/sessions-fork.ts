// strata sessions fork: another session that shares everything up to a turn.
import type { CommandBody } from "../command.ts";
import { needSession, useLedger } from "../use-ledger.ts";
import { printResult } from "../ledger/render-ledger.ts";

export const run: CommandBody = (input, io) => {
  const [typed = "", name = ""] = input.operands;
  const turnId = input.values.get("turn");
  return useLedger(input, io, async ({ ledger }, place) => {
    const { id } = await needSession(ledger, typed, place);
    const fork = await ledger.forkSession({
      id: name,
      from: turnId === undefined ? { sessionId: id } : { turnId },
      like: id,
    });
    const { headTurnId } = fork;
    return printResult(input, io, {
      value: fork,
      text: `${fork.id} goes on from ${headTurnId === null ? "nothing, as no turn is completed" : `turn ${headTurnId}`} of ${id}.\n`,
    });
  });
};
