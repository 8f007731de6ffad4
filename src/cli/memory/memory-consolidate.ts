// strata memory consolidate: replaces a whole file, unless it changes meanwhile.
import { memoryBytesMax } from "../../core/memory/memory-file.ts";
import { describeRefusal } from "../../core/memory/memory-refusal.ts";
import type { ConsolidateOptions } from "../../edge/files/memory/memory-store.ts";
import type { CommandBody } from "../command.ts";
import { confirm } from "../confirm.ts";
import { fileOf, useMemory } from "./memory-open.ts";
import { showDeclined, showOutcome } from "./memory-outcome.ts";
import { StrataError } from "../../core/strata-error.ts";

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

/** Refuses invalid UTF-8: replacement characters would be stored as if the user had typed them. */
export async function readText(
  source: AsyncIterable<Uint8Array | string>,
  bytesMax: number,
): Promise<string> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of source) {
    const bytes = typeof piece === "string" ? Buffer.from(piece) : piece;
    size += bytes.length;
    if (size > bytesMax) throw refused(`has more than ${bytesMax} bytes`, "give less");
    pieces.push(bytes);
  }
  try {
    return strict.decode(Buffer.concat(pieces));
  } catch {
    throw refused("is not UTF-8 text", "convert it first; nothing was changed");
  }
}

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function refused(problem: string, hint: string): StrataError {
  return new StrataError("input-invalid", `standard input ${problem}`, hint);
}
