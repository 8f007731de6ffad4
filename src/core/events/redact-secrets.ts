// Takes known secrets out of texts and of tool results.
import type { Block, MediaSource, Message } from "../message/message.ts";
import { createPartFinder, spellingsOf, type Part } from "./secret-parts.ts";

export type Redact = (text: string) => string;

/** Shorter secrets stay where they are: they may be words. The host warns about them. */
export const secretLengthMin = 12;

/**
 * For what tools print: takes out the secrets, and longer parts of them, as they are and as programs spell them (URL, JSON,
 * base64, hex). A text without them is returned as it is.
 */
export function createSecretRedact(secrets: readonly string[]): Redact {
  const long = secrets.filter((secret) => secret.length >= secretLengthMin);
  if (long.length === 0) return (text) => text;
  const find = createPartFinder([...new Set(long.flatMap(spellingsOf))], "sparing");
  return (text) => takeOut(text, find(text));
}

export function takeOut(text: string, parts: readonly Part[]): string {
  if (parts.length === 0) return text;
  const kept = parts.map(({ start }, index) => text.slice(parts[index - 1]?.end ?? 0, start));
  return [...kept, text.slice(parts.at(-1)?.end ?? 0)].join("[redacted]");
}

/** The same message if it holds no secret: its bytes stay. */
export function redactMessage(message: Message, redact: Redact): Message {
  const content = message.content.map((block) => redactBlock(block, redact));
  if (content.every((block, index) => block === message.content[index])) return message;
  return { role: message.role, content };
}

function redactBlock(block: Block, redact: Redact): Block {
  const spelled = JSON.stringify(block);
  if (redact(spelled) === spelled) return block;
  switch (block.type) {
    case "text":
      return { type: "text", text: redact(block.text) };
    case "tool_result": {
      const { toolUseId, content, isError } = block;
      const clean = content.map((each) => redactBlock(each, redact));
      return { type: "tool_result", toolUseId, content: clean, isError };
    }
    case "document": {
      const { source, title } = block;
      if (!isText(source)) return withheld(block.type);
      const named = title === undefined ? {} : { title: redact(title) };
      return { type: "document", source: { ...source, data: redact(source.data) }, ...named };
    }
    case "image":
    case "tool_use":
    case "thinking":
    case "redacted_thinking":
    case "compaction":
    case "opaque":
      // Cutting a piece out of an image or of a block we do not know would only break it.
      return withheld(block.type);
  }
}

function isText(source: MediaSource): source is Extract<MediaSource, { readonly kind: "text" }> {
  return source.kind === "text";
}

function withheld(what: Block["type"]): Block {
  return { type: "text", text: `[${what} withheld: it holds a configured secret]` };
}
