// Typed lines: commands or messages; and a chat without a terminal, with one turn per input line.
import { stripVTControlCharacters } from "node:util";
import type { TurnEnding } from "../../engine.ts";
import { readMentions } from "./input/mentions.ts";
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
    const own = context.own !== null && line.startsWith("!") ? line.slice(1).trim() : "";
    if (own !== "") return runOwn(own, context);
    if (!chat.isBusy) return say(typed.text, context);
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

/** Sends a message with the files that it names, and with what the person ran since the last one. */
async function say(text: string, context: SlashContext): Promise<TurnEnding> {
  const { chat, files, own, emit } = context;
  const read = await readMentions(text, files, chat.session.session.model);
  for (const problem of read.problems) emit(noticeOf("warning", problem));
  const ran = own?.takeOutput() ?? "";
  const { content } = read.event;
  if (ran === "" && typeof content === "string") return chat.say(text);
  const blocks = typeof content === "string" ? [{ type: "text" as const, text }] : content;
  const before = ran === "" ? [] : [{ type: "text" as const, text: ran }];
  return chat.say(text, { ...read.event, content: [...before, ...blocks] });
}

async function runOwn(
  command: string,
  { own, emit, workspace }: SlashContext,
): Promise<"continue"> {
  const folder = workspace ?? process.cwd();
  emit({ type: "commanded", text: `!${command}` });
  emit(noticeOf("info", `Runs in ${folder} as you, not as the agent.`));
  const shown = await own?.run(command, folder);
  emit({ type: "reported", text: stripVTControlCharacters(shown ?? "") });
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
