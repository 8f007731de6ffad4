// The current topic as words: the user's latest messages, and the agent's text in the kept part.
import type { Message } from "../../message/message.ts";
import type { HistoryMessage } from "../history.ts";
import type { Topic } from "./rank.ts";
import { collectWords } from "./words.ts";

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
