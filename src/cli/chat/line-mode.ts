// A chat without a terminal: one turn per input line, until the input ends.
import type { TurnEnding } from "../../engine.ts";
import type { Outside } from "./outside.ts";
import { runSlash, type SlashContext } from "./slash/run-slash.ts";
import { readTyped } from "./slash/slash-words.ts";

/** Returns how the last turn ended. A stopped turn ends the chat. */
export async function runLines(
  context: SlashContext,
  lines: AsyncIterable<string>,
  outside: Pick<Outside, "ended" | "isEnded">,
): Promise<TurnEnding> {
  const reader = lines[Symbol.asyncIterator]();
  let ending: TurnEnding = "done";
  while (!outside.isEnded() && ending !== "cancelled") {
    const next = await Promise.race([reader.next(), outside.ended]);
    if (next === null || next.done === true) break;
    const line = next.value;
    const typed = readTyped(line.replace(/\r$/, ""));
    if (typed.kind !== "words") context.tell({ type: "commanded", text: line.trim() });
    if (typed.kind === "unknown") {
      context.tell({ type: "noticed", level: "warning", text: typed.text });
    } else if (typed.kind === "command") {
      if (!(await runSlash(typed.spec, typed.rest, context))) break;
    } else if (typed.text !== "") ending = await context.chat.say(typed.text);
  }
  // Not awaited: a reader that still waits for a line ends with the program.
  reader.return?.().catch(() => {});
  return ending;
}
