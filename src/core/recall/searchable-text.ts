// A message as text for searching and reading: its text, tool inputs and tool results.
import type { Block, Message } from "../message/message.ts";

/** `whole` is the full text of a tool result if the message holds only a part. Thinking is left out. */
export function toSearchableText(message: Message, whole: string | null): string {
  const texts = message.content.flatMap((block) =>
    whole !== null && block.type === "tool_result" ? [whole] : textsOf(block),
  );
  return texts.filter((text) => text !== "").join("\n");
}

function textsOf(block: Block): readonly string[] {
  switch (block.type) {
    case "text":
      return [block.text];
    case "tool_use":
      return [`${block.name} ${toPlainInput(block.inputJson)}`];
    case "tool_result":
      return block.content.flatMap(textsOf);
    case "document":
      return [block.title ?? "", ...(block.source.kind === "text" ? [block.source.data] : [])];
    case "compaction":
      return [block.content ?? ""];
    case "image":
    case "thinking":
    case "redacted_thinking":
    case "opaque":
      return [];
  }
}

/** JSON without quotes and escapes, which would hide words. Numbers stay as written. */
function toPlainInput(inputJson: string): string {
  return inputJson.replace(/"(?:[^"\\]|\\.)*"|[:,]\s*/g, (found) =>
    found.startsWith('"') ? toPlainString(found) : `${found.trimEnd()} `,
  );
}

function toPlainString(literal: string): string {
  try {
    return String(JSON.parse(literal));
  } catch {
    return literal;
  }
}
