// Typed lines: commands or messages; and a chat without a terminal, with one turn per input line.
import type { TurnEnding } from "../../engine.ts";
import { noticeOf } from "./state/update.ts";
import { runSlash, type SlashContext } from "./slash/run-slash.ts";
import { readTyped } from "./slash/slash-words.ts";

/** Runs a command, or sends a message. Returns how a turn ended, or whether the chat continues without one. */
export async function submitLine(
  line: string,
  context: SlashContext,
): Promise<TurnEnding | "continue" | "quit"> {
  const { chat, emit } = context;
  const typed = readTyped(line.replace(/\r$/, ""));
  if (typed.kind === "words") {
    if (typed.text === "") return "continue";
    if (!chat.isBusy) return chat.say(typed.text);
    chat.steer(typed.text);
    return "continue";
  }
  emit({ type: "commanded", text: line.trim() });
  if (typed.kind === "command") {
    return (await runSlash(typed.spec, typed.rest, context)) ? "continue" : "quit";
  }
  emit(noticeOf("warning", typed.text));
  return "continue";
}

/** Returns how the last turn ended. A stopped turn ends the chat. */
export async function runLines(
  context: SlashContext,
  lines: AsyncIterable<string>,
): Promise<TurnEnding> {
  const { outside } = context;
  const reader = lines[Symbol.asyncIterator]();
  let ending: TurnEnding = "done";
  while (!outside.isEnded() && ending !== "cancelled") {
    const next = await Promise.race([reader.next(), outside.ended]);
    if (next === null || next.done === true) break;
    const result = await submitLine(next.value, context);
    if (result === "quit") break;
    if (result !== "continue") ending = result;
  }
  // Not awaited: a reader that still waits for a line ends with the program.
  reader.return?.().catch(() => {});
  return ending;
}
