// A few words of a block, for reports.
import type { Block } from "../../core/message/message.ts";

const charactersMax = 60;

/** On one line, cut to a few words. */
export function toExcerpt(block: Block): string {
  const text = wordsOf(block).slice(0, 8 * charactersMax);
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length > charactersMax ? `${line.slice(0, charactersMax).toWellFormed()}…` : line;
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
