// What a model thought is its own: another one cannot read it, and some refuse it once what came before has changed.
import type { Block, Message } from "./message.ts";

/** The same message where there is none in it. What is left may be nothing. */
export function withoutThinking(message: Message): Message {
  const content = message.content.filter((block) => !isThinking(block));
  // The exact text the message came as still has the thinking in it.
  return content.length === message.content.length ? message : { role: message.role, content };
}

/** Also blocks that we cannot read. */
function isThinking(block: Block): boolean {
  if (block.type !== "opaque") {
    return block.type === "thinking" || block.type === "redacted_thinking";
  }
  return /thinking|^reasoning$/.test(typeOf(block.json));
}

/** As the provider names it; empty where it cannot be told. */
function typeOf(json: string): string {
  try {
    const value: unknown = JSON.parse(json);
    const type = typeof value === "object" && value !== null && "type" in value ? value.type : null;
    return typeof type === "string" ? type : "";
  } catch {
    return "";
  }
}
