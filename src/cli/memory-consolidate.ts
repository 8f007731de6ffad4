// strata memory consolidate: a whole file anew, unless somebody changes it meanwhile.
import { text as readAll } from "node:stream/consumers";
import { describeRefusal } from "../core/memory/memory-refusal.ts";
import type { ConsolidateOptions } from "../edge/stores/memory/memory-store.ts";
import type { CommandBody } from "./command.ts";
import { confirm } from "./confirm.ts";
import { fileOf, useMemory } from "./memory-open.ts";
import { showOutcome } from "./memory-outcome.ts";

export const run: CommandBody = (input, io) => {
  const file = fileOf(input);
  const [, given = ""] = input.operands;
  return useMemory(input, async (store) => {
    // What is there when the command begins is what its user has seen; typing may take a while.
    const { hash } = await store.read(file);
    const content = given === "-" ? await readAll(process.stdin) : given;
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
    io.error("Nothing was changed.\n");
    return 0;
  });
};
