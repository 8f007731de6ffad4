// The words of an identifier, of a text, and of the current work. Shared words show what a name is about.
import type { Message } from "../../message/message.ts";
import type { HistoryMessage } from "../history.ts";

/** In lower case, each once, at least three letters: `readFileLines` is read, file, lines. */
export function wordsOf(text: string): readonly string[] {
  return [...collectWords(text, new Set())];
}

export function collectWords(text: string, words: Set<string>): Set<string> {
  let start = 0;
  for (let at = 0; at <= text.length; at += 1) {
    const code = at < text.length ? text.charCodeAt(at) : 0;
    const isBreak = !isLetter(code) || (isUpper(code) && !isUpper(text.charCodeAt(at - 1)));
    if (!isBreak) continue;
    if (at - start >= 3 && at - start <= wordCharactersMax) {
      words.add(text.slice(start, at).toLowerCase());
    }
    start = isLetter(code) ? at : at + 1;
  }
  return words;
}

const wordCharactersMax = 40;

function isLetter(code: number): boolean {
  return (code >= 97 && code <= 122) || isUpper(code) || (code >= 0xc0 && code <= 0x52f);
}

function isUpper(code: number): boolean {
  return code >= 65 && code <= 90;
}

/** Words about the current work. */
export interface Topic {
  /** From the user's latest messages. */
  readonly asked: ReadonlySet<string>;
  /** From the agent's text in the kept part. */
  readonly written: ReadonlySet<string>;
}

const latestAsks = 3;
/** Longer messages contain documents, which are about everything. */
const askCharactersMax = 8_000;

export function findTopic(
  compacted: readonly HistoryMessage[],
  kept: readonly HistoryMessage[],
): Topic {
  const asked = new Set<string>();
  const asks = [...compacted, ...kept].filter(({ message }) => message.role === "user");
  for (const { message } of asks.slice(-latestAsks)) {
    for (const text of saidIn(message)) {
      if (text.length <= askCharactersMax) collectWords(text, asked);
    }
  }
  const written = new Set<string>();
  for (const { message } of kept.filter((each) => each.message.role === "assistant")) {
    for (const text of saidIn(message)) collectWords(text, written);
  }
  return { asked, written };
}

function saidIn({ content }: Message): readonly string[] {
  return content.flatMap((block) => {
    if (block.type === "text" || block.type === "thinking") return [block.text];
    return block.type === "tool_use" ? [block.inputJson] : [];
  });
}
