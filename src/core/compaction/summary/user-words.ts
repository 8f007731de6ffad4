// The user's latest messages of the compacted part, word for word within a budget.
import type { HistoryMessage } from "../history.ts";
import { memoryFlushText } from "./memory-flush-text.ts";
import { readNotesMessage } from "./read-notes-message.ts";

/** Stands before each message. */
const marker = "[user message]";
const othersLine = "(others, older or longer, are not repeated)";

/** Whole messages only, the newest first; what is too long is left to the summary. Notes hand on what they hold. */
export function keepUserWords(
  compacted: readonly HistoryMessage[],
  tokensMax: number,
  countText: (text: string) => number,
): string {
  const said = compacted.flatMap(wordsOf);
  const kept: string[] = [];
  let left = tokensMax - countText(`${othersLine}\n`);
  for (const words of said.toReversed()) {
    const text = `${marker}\n${words}`;
    // A longer text needs no counting: it is pasted data.
    if (words === null || text.length > tokensMax * charactersPerTokenMax) continue;
    const tokens = countText(`${text}\n`);
    if (tokens > left) continue;
    left -= tokens;
    kept.push(text);
  }
  if (kept.length === 0) return "";
  const others = kept.length < said.length ? [othersLine] : [];
  return [...others, ...kept.toReversed()].join("\n");
}

const charactersPerTokenMax = 16;

/** Null for messages that earlier notes no longer repeat. */
function wordsOf({ message, compactionPart }: HistoryMessage): readonly (string | null)[] {
  if (message.role !== "user") return [];
  if (compactionPart === "notes") {
    const [others = "", ...words] = (readNotesMessage(message)?.wordsText ?? "").split(
      `${marker}\n`,
    );
    return [...(others === "" ? [] : [null]), ...words.map((text) => text.trim())];
  }
  const texts = message.content.flatMap((block) => (block.type === "text" ? [block.text] : []));
  const text = texts.join("\n").trim();
  return text === "" || text === memoryFlushText ? [] : [text.replaceAll(marker, `> ${marker}`)];
}
