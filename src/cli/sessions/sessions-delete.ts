// strata sessions delete: deletes a session and everything only it uses.
import type { Deletion } from "../../core/ledger/ledger.ts";
import type { SessionRecord } from "../../core/ledger/session-record.ts";
import { formatCount } from "../../replay/format-figures.ts";
import type { CommandBody } from "../command.ts";
import { confirm } from "../confirm.ts";
import { needSession, useLedger } from "../use-ledger.ts";
import { printResult } from "../ledger/render-ledger.ts";

export const run: CommandBody = (input, io) => {
  const [typed = ""] = input.operands;
  const { switches } = input;
  const withForks = switches.has("with-forks");
  return useLedger(input, io, async ({ ledger }, place) => {
    const session = await needSession(ledger, typed, place);
    const { id } = session;
    const all = { origin: "all", status: "all" } as const;
    const workers = await ledger.listSessions({ ...all, parentSessionId: id, limit: 1000 });
    const question = ask(session, workers.length, withForks);
    if (!(await confirm(question, switches.has("yes")))) {
      io.error("Nothing was deleted.\n");
      return 0;
    }
    const deletion = await ledger.deleteSession(id, { withForks });
    return printResult(input, io, { value: deletion, text: render(deletion) });
  });
};

function ask({ id, turnCount }: SessionRecord, workers: number, withForks: boolean): string {
  const also = [
    ...(workers > 0 ? [`${formatCount(workers, "session")} of sub-agents`] : []),
    ...(withForks ? ["every session forked from it"] : []),
  ];
  return `Delete for good: ${[`session ${id}`, formatCount(turnCount, "turn"), ...also].join(", ")}?`;
}

function render({ sessions, turns, turnsKept, notYetScrubbed }: Deletion): string {
  const kept =
    turnsKept > 0
      ? ` ${formatCount(turnsKept, "turn")} of it ${turnsKept === 1 ? "stays" : "stay"}, because other sessions use ${turnsKept === 1 ? "it" : "them"}.`
      : "";
  const left = notYetScrubbed === null ? "" : `Not yet erased from the disk: ${notYetScrubbed}.\n`;
  return `Deleted ${sessions.join(", ")}: ${formatCount(turns, "turn")}.${kept}\n${left}`;
}
