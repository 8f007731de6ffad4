// strata ledger check: finds damage, and repairs what can be repaired without guessing.
import type { Ledger } from "../../core/ledger/ledger.ts";
import { exitStatusOf, messageOf, StrataError } from "../../core/strata-error.ts";
import { formatCount } from "../../replay/format-figures.ts";
import type { CommandBody } from "../command.ts";
import { createProgress } from "../progress.ts";
import { toJsonLine, toPrintable } from "./render-ledger.ts";
import { useLedger } from "../use-ledger.ts";

export const run: CommandBody = (input, io) =>
  useLedger(input, io, async ({ ledger }, place) => {
    const isJson = input.switches.has("json");
    const progress = createProgress(io, "checked");
    const total = await countMessages(ledger);
    const [problems, repaired]: [string[], string[]] = [[], []];
    let checkedMessages = 0;
    const found = (problem: string): void => {
      problems.push(problem);
      progress.end();
      if (!isJson) io.out(`${toPrintable(problem)}\n`);
    };
    if (input.switches.has("repair")) {
      for await (const change of ledger.repair()) {
        repaired.push(change);
        if (!isJson) io.out(`Repaired: ${toPrintable(change)}\n`);
      }
      if (!isJson && repaired.length === 0) io.out("Nothing to repair.\n");
    }
    try {
      const everything = ledger.check((checked) => {
        checkedMessages = checked;
        progress.update(checked, Math.max(checked, total));
      });
      for await (const problem of everything) found(problem);
    } catch (error) {
      // A damaged ledger cannot always be read to its end. Without damage, the error is our bug.
      if (!(error instanceof StrataError) && problems.length === 0) throw error;
      found(`the check ended early: ${messageOf(error)}`);
    }
    progress.end();
    if (isJson)
      io.out(
        toJsonLine({
          store: place.name,
          checkedMessages,
          problems,
          ...(repaired.length > 0 && { repaired }),
        }),
      );
    else io.out(summarise(place.name, checkedMessages, problems.length));
    return problems.length === 0 ? 0 : exitStatusOf["store-unavailable"];
  });

/** Only for the progress line; a damaged table may not be countable. */
async function countMessages(ledger: Ledger): Promise<number> {
  try {
    return (await ledger.stats()).rows["messages"] ?? 0;
  } catch (error) {
    if (error instanceof StrataError) return 0;
    throw error;
  }
}

function summarise(name: string, messages: number, problems: number): string {
  const looked = `${name}: ${formatCount(messages, "message")} checked`;
  if (problems === 0) return `${looked}, no problems.\n`;
  return (
    `${looked}, ${formatCount(problems, "problem")} found.\n` +
    "Keep a copy of the ledger as it is; strata ledger check --repair mends counts, costs and state. Otherwise restore the last good backup; sessions that can still be read can be saved with strata sessions export.\n"
  );
}
