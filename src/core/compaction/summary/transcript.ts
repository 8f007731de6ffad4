// A conversation as text, for a model that takes no part in it.
import type { Block, Message } from "../../message/message.ts";
import type { HistoryMessage } from "../history.ts";
import { readNotesMessage } from "./read-notes-message.ts";
import { cutToCharacters } from "./shorten.ts";

/** How much of a tool's result and of its input is shown. */
const payloadCharactersMax = 1_200;
const inputCharactersMax = 600;

type ShownMessage = Pick<HistoryMessage, "message" | "compactionPart">;

export function renderTranscript(messages: readonly ShownMessage[]): string {
  return messages
    .map(renderMessage)
    .filter((text) => text !== "")
    .join("\n\n");
}

/** Empty for a message without visible content, such as one of thinking alone. */
export function renderMessage({ message, compactionPart }: ShownMessage): string {
  const notes = compactionPart === "notes" ? readNotesMessage(message) : null;
  if (notes !== null) return `[notes on what came before]\n${notes.text}`;
  const label = labelOf(message);
  const texts = message.content.map(renderBlock).filter((text) => text !== "");
  if (texts.length === 0) return "";
  return [...(label === null ? [] : [label]), ...texts].join("\n");
}

/** Results have their own labels, wherever a protocol puts them. */
function labelOf({ role, content }: Message): string | null {
  const first = content.find((block) => renderBlock(block) !== "");
  return first?.type === "tool_result" ? null : `[${role}]`;
}

function renderBlock(block: Block): string {
  switch (block.type) {
    case "text":
      return block.text.trim();
    case "tool_use":
      return `[tool call ${block.name}] ${cutToCharacters(block.inputJson, inputCharactersMax)}`;
    case "tool_result":
      return renderResult(block.content.map(renderBlock).join("\n"), block.isError);
    case "image":
      return "[an image]";
    case "document":
      return block.source.kind === "text"
        ? `[document ${block.title ?? ""}]\n${quote(cutToCharacters(block.source.data, payloadCharactersMax))}`
        : `[a document ${block.title ?? ""}]`;
    case "compaction":
      return block.content ?? "";
    // Thinking is not part of the conversation, and blocks of an unknown kind are unreadable.
    case "thinking":
    case "redacted_thinking":
    case "opaque":
      return "";
  }
}

function renderResult(text: string, isError: boolean): string {
  const label = isError ? "[tool error, untrusted]" : "[tool output, untrusted]";
  return text.trim() === ""
    ? label
    : `${label}\n${quote(cutToCharacters(text, payloadCharactersMax))}`;
}

/** Quotes each line, so that none looks like a label. */
function quote(text: string): string {
  return text
    .trimEnd()
    .split("\n")
    .map((line) => `| ${line}`)
    .join("\n");
}
