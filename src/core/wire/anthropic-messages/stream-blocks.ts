// The pieces of a stream → blocks, as if the reply had come in one answer.
import { fieldsOf, parseFields } from "../../message/fields.ts";
import { itemsOf, type ListView } from "../../growing/growing-list.ts";
import { decodeBlock } from "../../message/decode-message.ts";
import { itemTexts, memberTexts } from "../../message/json-text.ts";
import type { Block, JsonText } from "../../message/message.ts";
import { textOf } from "./schema.ts";
import type { GrowingMember, Piece } from "./stream-pieces.ts";

export interface JoinedBlocks {
  readonly content: readonly Block[];
  /** Content that arrived but is not in the blocks. */
  readonly warnings: readonly string[];
}

export function joinPieces(pieces: ListView<Piece>): JoinedBlocks {
  const { drafts, warnings } = collect(pieces);
  const content = drafts.map((draft) => {
    const block = toBlock(draft);
    if (block.type === "opaque" && hasCutInput(draft)) {
      warnings.push("the input of a server tool was cut off and is left out");
    }
    return block;
  });
  return { content, warnings };
}

interface Draft {
  readonly json: JsonText;
  readonly grown: Map<GrowingMember, string[]>;
}

function collect(pieces: ListView<Piece>): { drafts: Draft[]; warnings: string[] } {
  const drafts: Draft[] = [];
  const byIndex = new Map<number, Draft>();
  const lost = new Map<string, number>();
  const lose = (what: string): void => void lost.set(what, (lost.get(what) ?? 0) + 1);
  for (const piece of itemsOf(pieces)) {
    if (piece.kind === "unknown") lose(`of the unknown type "${piece.type}"`);
    else if (piece.kind === "start") {
      const draft: Draft = { json: piece.json, grown: new Map() };
      byIndex.set(piece.index, draft);
      drafts.push(draft);
    } else {
      const draft = byIndex.get(piece.index);
      if (draft === undefined) lose("of a block that never began");
      else addText(draft, piece.member, piece.text);
    }
  }
  const warnings = [...lost].map(([what, count]) => `left out: ${count} deltas ${what}`);
  return { drafts, warnings };
}

function addText({ grown }: Draft, member: GrowingMember, text: string): void {
  const texts = grown.get(member);
  if (texts === undefined) grown.set(member, [text]);
  else texts.push(text);
}

function toBlock(draft: Draft): Block {
  const start = parseFields(draft.json) ?? {};
  const isToolUse = start["type"] === "tool_use";
  if (isToolUse && hasCutInput(draft)) {
    // Keeps what arrived, even if it is not JSON: validation and encoding will find it.
    const inputJson = joined(draft, "input");
    return { type: "tool_use", id: textOf(start["id"]), name: textOf(start["name"]), inputJson };
  }
  const grown = grownMembers(draft);
  const lacksInput = isToolUse && start["input"] === undefined;
  if (grown.size === 0 && !lacksInput) return decodeBlock(draft.json);
  const members = memberTexts(draft.json);
  if (lacksInput) members.set("input", "{}");
  for (const [name, json] of grown) members.set(name, json);
  const texts = [...members].map(([name, json]) => `${JSON.stringify(name)}:${json}`);
  return decodeBlock(`{${texts.join(",")}}`);
}

/** An input that is not JSON was cut off. */
function hasCutInput(draft: Draft): boolean {
  const input = joined(draft, "input");
  return input.trim() !== "" && !isJson(input);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** The members that grew, with their initial text, as JSON. */
function grownMembers(draft: Draft): Map<string, JsonText> {
  const start = fieldsOf(parseFields(draft.json));
  const members = new Map<string, JsonText>();
  for (const [member, texts] of draft.grown) {
    switch (member) {
      case "input":
        if (joined(draft, "input").trim() !== "" && !hasCutInput(draft)) {
          members.set("input", joined(draft, "input").trim());
        }
        break;
      case "citations":
        members.set("citations", `[${[...begunCitations(draft.json), ...texts].join(",")}]`);
        break;
      // These come in one piece; a second one would replace the first.
      case "signature":
      case "encrypted_content":
        members.set(member, JSON.stringify(texts.at(-1)));
        break;
      case "text":
      case "thinking":
      case "content":
        members.set(member, JSON.stringify(textOf(start[member]) + texts.join("")));
    }
  }
  return members;
}

function begunCitations(json: JsonText): JsonText[] {
  return itemTexts(memberTexts(json).get("citations") ?? "");
}

function joined({ grown }: Draft, member: GrowingMember): string {
  return (grown.get(member) ?? []).join("");
}
