// strata memory add and replace: appends an entry, or replaces one text with another.
import type { CommandBody } from "../command.ts";
import { fileOf, useMemory } from "./memory-open.ts";
import { showOutcome } from "./memory-outcome.ts";

export const add: CommandBody = (input, io) => {
  const file = fileOf(input);
  const [, entry = ""] = input.operands;
  return useMemory(input, io, async (store) =>
    showOutcome(await store.addEntry(file, entry), input, io),
  );
};

export const replace: CommandBody = (input, io) => {
  const file = fileOf(input);
  const [, old = "", by = ""] = input.operands;
  return useMemory(input, io, async (store) =>
    showOutcome(await store.replace(file, old, by), input, io),
  );
};
