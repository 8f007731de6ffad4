// strata memory add: appends an entry.
import type { CommandBody } from "../command.ts";
import { fileOf, useMemory } from "./memory-open.ts";
import { showOutcome } from "./memory-outcome.ts";

export const run: CommandBody = (input, io) => {
  const file = fileOf(input);
  const [, entry = ""] = input.operands;
  return useMemory(input, io, async (store) =>
    showOutcome(await store.addEntry(file, entry), input, io),
  );
};
