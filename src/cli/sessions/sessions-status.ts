// strata sessions archive, activate and abandon: which sessions are listed, and which take turns.
import type { CommandBody, CommandInput, Io } from "../command.ts";
import { needSession, useLedger } from "../use-ledger.ts";
import { printResult } from "../ledger/render-ledger.ts";

export const archive: CommandBody = (input, io) => setStatus(input, io, "archived");

export const activate: CommandBody = (input, io) => setStatus(input, io, "active");

function setStatus(input: CommandInput, io: Io, status: "archived" | "active"): Promise<number> {
  const [typed = ""] = input.operands;
  return useLedger(input, io, async ({ ledger }, place) => {
    const { id } = await needSession(ledger, typed, place);
    const value = await ledger.setStatus(id, status);
    const way = status === "active" ? "" : `; strata sessions activate ${id} brings it back`;
    return printResult(input, io, { value, text: `${id} is ${status}${way}.\n` });
  });
}

/** Gives up a turn that was left open. */
export const abandon: CommandBody = (input, io) => {
  const [typed = ""] = input.operands;
  return useLedger(input, io, async ({ ledger }, place) => {
    const { id, openTurnId } = await needSession(ledger, typed, place);
    await ledger.abandonTurn(id);
    const session = await needSession(ledger, id, place);
    return printResult(input, io, {
      value: { session, abandonedTurnId: openTurnId },
      text: `Turn ${openTurnId ?? ""} of ${id} is abandoned; its calls stay in the bill.\n`,
    });
  });
};
