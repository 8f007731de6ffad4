// strata memory replace: replaces one text with another.
import type { CommandBody } from "../command.ts";
import { fileOf, useMemory } from "./memory-open.ts";
import { showOutcome } from "./memory-outcome.ts";

export const run: CommandBody = (input, io) => {
  const file = fileOf(input);
  const [, old = "", by = ""] = input.operands;
  return useMemory(input, io, async (store) =>
    showOutcome(await store.replace(file, old, by), input, io),
  );
};
