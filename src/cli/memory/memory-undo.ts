// strata memory undo: goes back to an earlier version.
import { StrataError } from "../../core/strata-error.ts";
import { describeUndoRefusal } from "../../edge/files/memory/undo-change.ts";
import type { CommandBody, CommandInput } from "../command.ts";
import { fileOf, useMemory } from "./memory-open.ts";
import { toJsonLine } from "../ledger/render-ledger.ts";

export const run: CommandBody = (input, io) => {
  const file = fileOf(input);
  const to = versionOf(input);
  return useMemory(input, io, async (store) => {
    const outcome = await store.undo(file, to === undefined ? {} : { to });
    if (outcome.kind === "refused") {
      throw new StrataError(
        outcome.refusal === "edited" ? "conflict" : "not-found",
        describeUndoRefusal(file, outcome.refusal),
        "strata memory log lists the kept versions; --to N goes back to one, whatever the file holds now",
      );
    }
    const { entry, path, sizeBytes, notes } = outcome;
    const { number, operation } = entry;
    const what =
      to === undefined
        ? `Undid change ${number} (${operation})`
        : `Went back to the text before change ${number}`;
    io.out(
      input.switches.has("json")
        ? toJsonLine({ path, change: number, operation, sizeBytes, notes })
        : `${what}; ${path} has ${sizeBytes} bytes now.\n`,
    );
    if (!input.switches.has("json")) for (const note of notes) io.error(`${note}\n`);
    return 0;
  });
};

function versionOf(input: CommandInput): number | undefined {
  const text = input.values.get("to");
  if (text === undefined) return undefined;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new StrataError(
    "usage",
    `--to is "${text}", which is not the number of a change`,
    "strata memory log lists them",
  );
}
