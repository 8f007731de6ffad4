// A message in the ledger: its meaning as plain JSON, and separately the exact texts it came as.
import { assert } from "../assert.ts";
import { hashContent, type ContentHash } from "../hash.ts";
import type { Block, JsonText, Message, Role } from "../message/message.ts";

export interface MessageText {
  readonly role: Role;
  /** The blocks, without exact texts. */
  readonly content: JsonText;
  /** Exact texts by place. Usually null: our own spelling then gives the same bytes. */
  readonly wire: JsonText | null;
  readonly hash: ContentHash;
}

export function toMessageText(message: Message): MessageText {
  const { role } = message;
  const wire = exactTexts(message);
  const content = JSON.stringify(
    wire === null ? message.content : message.content.map(withoutText),
  );
  return { role, content, wire, hash: hashMessageText(role, content, wire) };
}

/** Computes the hash from the stored texts, so that a check can repeat it. */
export function hashMessageText(role: string, content: string, wire: string | null): ContentHash {
  return hashContent(`${role}\n${content}\n${wire ?? ""}`);
}

export function fromMessageText({ role, content, wire }: Omit<MessageText, "hash">): Message {
  const blocks: unknown = JSON.parse(content);
  assert(isBlocks(blocks), "a kept message is a list of blocks");
  return wire === null ? { role, content: blocks } : withTexts(role, blocks, wire);
}

/** `m` for the message, `2` for its third block, `2.0` for the first block inside that one. */
type Place = string;

function exactTexts(message: Message): JsonText | null {
  if (message.json === undefined && !message.content.some(hasText)) return null;
  const texts: Record<Place, JsonText> = {};
  if (message.json !== undefined) texts["m"] = message.json;
  collect(message.content, "", texts);
  return JSON.stringify(texts);
}

function hasText(block: Block): boolean {
  if (block.type === "opaque") return false;
  return block.json !== undefined || (block.type === "tool_result" && block.content.some(hasText));
}

function collect(blocks: readonly Block[], path: string, texts: Record<Place, JsonText>): void {
  for (const [index, block] of blocks.entries()) {
    const isOpaque = block.type === "opaque";
    if (!isOpaque && block.json !== undefined) texts[`${path}${index}`] = block.json;
    if (block.type === "tool_result") collect(block.content, `${path}${index}.`, texts);
  }
}

function withoutText(block: Block): Block {
  if (block.type === "opaque") return block;
  const { json: _json, ...plain } = block;
  return plain.type === "tool_result"
    ? { ...plain, content: plain.content.map(withoutText) }
    : plain;
}

function withTexts(role: Role, blocks: readonly Block[], wire: JsonText): Message {
  const texts: unknown = JSON.parse(wire);
  assert(isTexts(texts), "kept exact texts are strings by place");
  const attach = (list: readonly Block[], path: string): readonly Block[] =>
    list.map((block, index) => {
      const json = texts[`${path}${index}`];
      const inner =
        block.type === "tool_result"
          ? { ...block, content: attach(block.content, `${path}${index}.`) }
          : block;
      return json === undefined ? inner : { ...inner, json };
    });
  const message = { role, content: attach(blocks, "") };
  const { m: json } = texts;
  return json === undefined ? message : { ...message, json };
}

/** We wrote this ourselves, so the check only detects mixed-up columns. */
function isBlocks(value: unknown): value is readonly Block[] {
  return (
    Array.isArray(value) &&
    value.every((each: unknown) => typeof each === "object" && each !== null && "type" in each)
  );
}

function isTexts(value: unknown): value is Readonly<Record<Place, JsonText | undefined>> {
  return typeof value === "object" && value !== null;
}
