// A few words of a block, for reports.
import { detach, excerptAt, excerptLengthMax } from "../../core/diagnosis/excerpt.ts";
import type { Block } from "../../core/message/message.ts";

/** Text that begins with more space than this shows nothing else. */
const charactersRead = 8 * excerptLengthMax;

/** At most 80 characters on one line, control characters made visible; safe to print and never half a character. */
export function toExcerpt(block: Block): string {
  const words = wordsOf(block);
  const isCut = words.length > charactersRead;
  // A pair that the cut parts is left out whole.
  const head = isCut ? words.slice(0, charactersRead).replace(/[\ud800-\udbff]$/, "") : words;
  const line = head.replaceAll(/\s+/g, " ").trim();
  if (line === "") return isCut ? "…" : "(empty)";
  const shown = excerptAt(line, 0);
  // What is kept for a report must not keep the whole text alive.
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
