// strata ledger catch-up: stores the sums that questions are answered from, as far as hours are over.
import { formatCount } from "../../replay/format-figures.ts";
import type { CommandBody } from "../command.ts";
import { createProgress } from "../progress.ts";
import { useLedger } from "../use-ledger.ts";
import { printResult } from "./render-ledger.ts";

export const run: CommandBody = (input, io) =>
  useLedger(input, io, async ({ ledger }, place) => {
    const progress = createProgress(io, "summed hours");
    const done = await ledger.catchUp({
      onBatch: ({ hours }) => progress.update(hours, hours),
    });
    progress.end();
    const { hours, isBusy } = done;
    const text = isBusy
      ? `Another process stores the sums of ${place.name}.\n`
      : `Stored the sums of ${formatCount(hours, "hour")} in ${place.name}; all hours that are over are summed.\n`;
    return printResult(input, io, { value: { store: place.name, ...done }, text });
  });
