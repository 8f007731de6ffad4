// strata memory consolidate: replaces a whole file, unless it changes meanwhile.
import { memoryBytesMax } from "../../core/memory/memory-file.ts";
import { describeRefusal } from "../../core/memory/memory-refusal.ts";
import type { ConsolidateOptions } from "../../edge/files/memory/memory-store.ts";
import type { CommandBody } from "../command.ts";
import { confirm } from "../confirm.ts";
import { fileOf, useMemory } from "./memory-open.ts";
import { showDeclined, showOutcome } from "./memory-outcome.ts";
import { readText } from "../read-text.ts";

export const run: CommandBody = (input, io) => {
  const file = fileOf(input);
  const [, given = ""] = input.operands;
  return useMemory(input, io, async (store) => {
    // The user has seen the text from when the command began; typing may take a while.
    const { hash } = await store.read(file);
    const content = given === "-" ? await readText(process.stdin, memoryBytesMax) : given;
    const seenHash = input.values.get("if-hash") ?? hash;
    const write = (how: ConsolidateOptions): ReturnType<typeof store.consolidate> =>
      store.consolidate(file, content, { ...how, seenHash });
    const outcome = await write({ isDropConfirmed: input.switches.has("yes") });
    if (outcome.kind !== "refused" || outcome.refusal.kind !== "drop-unconfirmed") {
      return showOutcome(outcome, input, io);
    }
    const question = `${describeRefusal(file, outcome.refusal)}. Do it?`;
    if (await confirm(question, false)) {
      return showOutcome(await write({ isDropConfirmed: true }), input, io);
    }
    return showDeclined(file, input, io);
  });
};
