// What was said, for people: text in full, tools and media in one line.
import { styleText } from "node:util";
import type { ThreadMessage } from "../../core/ledger/turn-record.ts";
import type { Block, MediaSource } from "../../core/message/message.ts";
import { formatBytes, toPrintable, toShort } from "../ledger/render-ledger.ts";

/** With a line above it where another turn begins. */
export function renderMessage(kept: ThreadMessage, before: ThreadMessage | null): string {
  const { message, turnId } = kept;
  const head =
    before?.turnId === turnId ? "" : `${styleText("dim", `── ${toPrintable(turnId)} ──`)}\n`;
  const blocks = message.content.map((block) => indent(renderBlock(block)));
  return `${head}${styleText("bold", message.role)}\n${blocks.join("")}`;
}

const shortLength = 160;

function renderBlock(block: Block): string {
  switch (block.type) {
    case "text":
      return toPrintable(block.text);
    case "tool_use":
      return `[uses ${toShort(block.name, 60)} ${toShort(block.inputJson, shortLength)}]`;
    case "tool_result":
      return `[${block.isError ? "failed" : "answers"} ${toShort(block.content.map(renderBlock).join(" "), shortLength)}]`;
    case "thinking":
      return `[thinks ${toShort(block.text, shortLength)}]`;
    case "redacted_thinking":
      return "[thinks, encrypted]";
    case "image":
      return `[image ${describeSource(block.source)}]`;
    case "document":
      return `[document ${toShort(block.title ?? "", 60)} ${describeSource(block.source)}]`;
    case "compaction":
      return `[the provider's summary: ${toShort(block.content ?? "none", shortLength)}]`;
    case "opaque":
      return `[a block of the provider's own, ${formatBytes(block.json.length)}]`;
  }
}

function describeSource(source: MediaSource): string {
  switch (source.kind) {
    case "base64":
      return `${toShort(source.mediaType, 40)}, ${formatBytes(Math.floor(source.data.length * 0.75))}`;
    case "text":
      return `${toShort(source.mediaType, 40)}, ${formatBytes(source.data.length)}`;
    case "url":
      return toShort(source.url, shortLength);
    case "file":
      return toShort(source.fileId, shortLength);
  }
}

function indent(text: string): string {
  return `${text.replace(/^/gm, "  ")}\n`;
}
