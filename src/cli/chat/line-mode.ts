// A chat without a terminal: what is said comes as lines, one turn after the other, until there are no more.
import type { TurnEnding } from "../../engine.ts";
import { runSlash, type SlashContext } from "./run-slash.ts";
import { readTyped } from "./slash-words.ts";

/** How the last turn ended. Whoever stops one wants no other. */
export async function runLines(
  context: SlashContext,
  lines: AsyncIterable<string>,
): Promise<TurnEnding> {
  let ending: TurnEnding = "done";
  for await (const line of lines) {
    const typed = readTyped(line.replace(/\r$/, ""));
    if (typed.kind !== "words") context.tell({ type: "commanded", text: line.trim() });
    if (typed.kind === "unknown") {
      context.tell({ type: "noticed", level: "warning", text: typed.text });
    } else if (typed.kind === "command") {
      if (!(await runSlash(typed.spec, typed.rest, context))) break;
    } else if (typed.text !== "") ending = await context.chat.say(typed.text);
    if (ending === "cancelled") break;
  }
  return ending;
}
