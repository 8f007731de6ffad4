// A short excerpt of a block, for reports.
import { detach, excerptAt, excerptLengthMax } from "../../core/diagnosis/excerpt.ts";
import type { Block } from "../../core/message/message.ts";

/** Only this much is read, so text after more leading white space does not show. */
const charactersRead = 8 * excerptLengthMax;

/** At most 80 characters on one line, with visible control characters; safe to print, never splits a character. */
export function toExcerpt(block: Block): string {
  const words = wordsOf(block);
  const isCut = words.length > charactersRead;
  // A surrogate pair at the cut is dropped.
  const head = isCut ? words.slice(0, charactersRead).replace(/[\ud800-\udbff]$/, "") : words;
  const line = head.replaceAll(/\s+/g, " ").trim();
  if (line === "") return isCut ? "…" : "(empty)";
  const shown = excerptAt(line, 0);
  // A substring would keep the whole text in memory.
  return detach(isCut && !shown.endsWith("…") ? `${shown}…` : shown);
}

function wordsOf(block: Block): string {
  switch (block.type) {
    case "text":
      return block.text;
    case "tool_use":
      return `${block.name} ${block.inputJson}`;
    case "tool_result":
      return block.content.map(wordsOf).join(" ");
    case "thinking":
      return block.text === "" ? "(thinking)" : block.text;
    case "redacted_thinking":
      return "(redacted thinking)";
    case "compaction":
      return block.content ?? "(compaction)";
    case "image":
      return "(image)";
    case "document":
      return block.title ?? "(document)";
    case "opaque":
      return block.json;
  }
}
