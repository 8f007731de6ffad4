// Promises for any message text: bytes survive, the meaning is right, our spelling is stable.
import { isDeepStrictEqual } from "node:util";
import { decodeMessage } from "../src/core/message/decode-message.ts";
import { encodeMessage, spellBlock, spellMessage } from "../src/core/message/encode-message.ts";
import type { Block, Message } from "../src/core/message/message.ts";
import { validateMessage } from "../src/core/message/validate-message.ts";

/** The promises this message text breaks. */
export function brokenPromises(text: string): string[] {
  try {
    const message = decodeMessage(text);
    const broken: string[] = [];
    if (encodeMessage(message) !== text) broken.push("encoding gives other bytes");
    if (!meansTheSame(message, text)) broken.push("it does not mean what the text says");
    if (!keepsInputs(message, text)) broken.push("a tool input is not verbatim");
    if (!hasStableSpelling(message)) broken.push("our own spelling does not read back as itself");
    if (validateMessage(message).some(({ rule }) => rule === "json-stale")) {
      broken.push("the kept text is called stale");
    }
    return broken;
  } catch (error) {
    return [`threw ${String(error)}`];
  }
}

type Parsed = Readonly<Record<string, unknown>>;

/** Compares the decoded message with JSON.parse of the same text. */
function meansTheSame(message: Message, text: string): boolean {
  const { role, content } = JSON.parse(text) as { role: string; content: string | Parsed[] };
  return (
    role === message.role && isDeepStrictEqual(message.content.map(meaningOf), expected(content))
  );
}

function expected(content: string | readonly Parsed[]): unknown[] {
  return typeof content === "string"
    ? [{ type: "text", text: content }]
    : content.map((block) => expectedBlock(block, "message"));
}

/** The fields of a known block; an unknown block only has to be kept. */
function expectedBlock(block: Parsed, place: "message" | "tool result"): unknown {
  const { type, text, source, title, id, name, input, thinking, signature, data, content } = block;
  switch (type) {
    case "text":
      return { type, text };
    case "image":
    case "document": {
      const { type: kind, ...rest } = source as Parsed;
      if (kind === "content") return "opaque";
      return { type, kind, rest, title: type === "image" ? undefined : title };
    }
    case "tool_use":
      return { type, id, name, input };
    case "tool_result":
      if (place === "tool result") return "opaque";
      return {
        type,
        toolUseId: block["tool_use_id"],
        isError: block["is_error"] === true,
        content: expectedContent(content),
      };
    case "thinking":
      return { type, thinking, signature };
    case "redacted_thinking":
      return { type, data };
    case "compaction":
      return { type, content };
    default:
      return "opaque";
  }
}

function expectedContent(content: unknown): unknown[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return ((content ?? []) as Parsed[]).map((block) => expectedBlock(block, "tool result"));
}

function meaningOf(block: Block): unknown {
  switch (block.type) {
    case "text":
      return { type: block.type, text: block.text };
    case "image":
    case "document": {
      const { kind } = block.source;
      const title = block.type === "document" ? block.title : undefined;
      return { type: block.type, kind, rest: sourceFields(block.source), title };
    }
    case "tool_use":
      return {
        type: block.type,
        id: block.id,
        name: block.name,
        input: JSON.parse(block.inputJson) as unknown,
      };
    case "tool_result": {
      const { toolUseId, isError, content } = block;
      return { type: block.type, toolUseId, isError, content: content.map(meaningOf) };
    }
    case "thinking":
      return { type: block.type, thinking: block.text, signature: block.signature };
    case "redacted_thinking":
      return { type: block.type, data: block.data };
    case "compaction":
      return { type: block.type, content: block.content };
    case "opaque":
      return "opaque";
  }
}

function sourceFields(source: Extract<Block, { type: "image" }>["source"]): unknown {
  switch (source.kind) {
    case "base64":
    case "text":
      return { media_type: source.mediaType, data: source.data };
    case "url":
      return { url: source.url };
    case "file":
      return { file_id: source.fileId };
  }
}

/** Each input appears unchanged in the text, right after its key. */
function keepsInputs(message: Message, text: string): boolean {
  return message.content.every(
    (block) =>
      block.type !== "tool_use" ||
      text.split(/"input"\s*:\s*/).some((rest) => rest.startsWith(block.inputJson)),
  );
}

function hasStableSpelling({ role, content }: Message): boolean {
  const blocks = content.map(spellBlock);
  const plain = `{"role":"${role}","content":[${blocks.join(",")}]}`;
  const again = decodeMessage(plain);
  return (
    spellMessage(again) === plain &&
    again.content.every((block) => block.json === undefined || block.json === spellBlock(block))
  );
}
