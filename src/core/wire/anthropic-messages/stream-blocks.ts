// The pieces of a stream → blocks, as if the reply had come in one answer.
import { itemsOf, type ListView } from "../../growing/growing-list.ts";
import { decodeBlock } from "../../message/decode-message.ts";
import { parseFields, type Fields } from "../../message/fields.ts";
import { escapeLoneSurrogates, itemTexts, memberTexts } from "../../message/json-text.ts";
import { objectText } from "../../message/json-tree.ts";
import type { Block, JsonText } from "../../message/message.ts";
import { excerpt } from "./failure.ts";
import { textOf } from "./schema.ts";

/** A piece of a block in one event. Text stays as it came; nothing is joined until the end. */
export type Piece =
  /** The block as it began, in its exact text. */
  | { readonly kind: "start"; readonly index: number; readonly json: JsonText }
  | {
      readonly kind: "delta";
      readonly index: number;
      readonly member: GrowingMember;
      readonly text: string;
    }
  | { readonly kind: "unknown"; readonly type: string };

/** Members that arrive in pieces. Input and citations are JSON text, the others plain text. */
type GrowingMember =
  | "text"
  | "thinking"
  | "signature"
  | "input"
  | "citations"
  | "content"
  | "encrypted_content";

/** The pieces of a delta; `data` is the text of the event it came with. */
export function toPieces(index: number, delta: Fields, data: string): readonly Piece[] {
  const type = textOf(delta["type"]);
  switch (type) {
    case "text_delta":
      return deltaOf(index, "text", delta["text"]);
    case "thinking_delta":
      return deltaOf(index, "thinking", delta["thinking"]);
    case "signature_delta":
      return deltaOf(index, "signature", delta["signature"]);
    case "input_json_delta":
      return deltaOf(index, "input", delta["partial_json"]);
    case "citations_delta":
      return deltaOf(index, "citations", citationText(data));
    case "compaction_delta":
      return [
        ...deltaOf(index, "content", delta["content"]),
        ...deltaOf(index, "encrypted_content", delta["encrypted_content"]),
      ];
    default:
      return [{ kind: "unknown", type }];
  }
}

function deltaOf(index: number, member: GrowingMember, text: unknown): readonly Piece[] {
  return typeof text === "string" ? [{ kind: "delta", index, member, text }] : [];
}

function citationText(data: string): JsonText | undefined {
  const delta = memberTexts(escapeLoneSurrogates(data)).get("delta") ?? "";
  return delta.startsWith("{") ? memberTexts(delta).get("citation") : undefined;
}

export interface JoinedBlocks {
  readonly content: readonly Block[];
  /** Content that arrived but is not in the blocks. */
  readonly warnings: readonly string[];
}

/** So many kinds of lost deltas are named: each is a warning on the record. */
const lostKindsMax = 10;

interface Draft {
  readonly json: JsonText;
  readonly grown: Map<GrowingMember, string[]>;
}

export function joinPieces(pieces: ListView<Piece>): JoinedBlocks {
  const drafts: Draft[] = [];
  const byIndex = new Map<number, Draft>();
  const lost = new Map<string, number>();
  const lose = (what: string): void => {
    const named = lost.has(what) || lost.size < lostKindsMax ? what : "of further unknown types";
    lost.set(named, (lost.get(named) ?? 0) + 1);
  };
  for (const piece of itemsOf(pieces)) {
    if (piece.kind === "unknown") lose(`of the unknown type "${excerpt(piece.type)}"`);
    else if (piece.kind === "start") {
      const draft: Draft = { json: piece.json, grown: new Map() };
      byIndex.set(piece.index, draft);
      drafts.push(draft);
    } else {
      const grown = byIndex.get(piece.index)?.grown;
      const texts = grown?.get(piece.member);
      if (grown === undefined) lose("of a block that never began");
      else if (texts === undefined) grown.set(piece.member, [piece.text]);
      else texts.push(piece.text);
    }
  }
  const warnings = [...lost].map(([what, count]) => `left out: ${count} deltas ${what}`);
  return { content: drafts.map((draft) => toBlock(draft, warnings)), warnings };
}

function toBlock({ json, grown }: Draft, warnings: string[]): Block {
  const start = parseFields(json) ?? {};
  const isToolUse = start["type"] === "tool_use";
  const input = (grown.get("input") ?? []).join("");
  // An input that is not JSON was cut off.
  const isCut = input.trim() !== "" && !isJson(input);
  if (isToolUse && isCut) {
    // Keeps what arrived, even if it is not JSON: validation and encoding will find it.
    const [id, name] = [textOf(start["id"]), textOf(start["name"])];
    return { type: "tool_use", id, name, inputJson: input };
  }
  const members = memberTexts(json);
  const changed = new Map<string, JsonText>();
  for (const [member, texts] of grown) {
    if (member !== "input") changed.set(member, grownText(member, texts, members, start));
  }
  if (input.trim() !== "" && !isCut) changed.set("input", input.trim());
  else if (isToolUse && start["input"] === undefined) changed.set("input", "{}");
  const block = decodeBlock(
    changed.size === 0 ? json : objectText(new Map([...members, ...changed])),
  );
  if (isCut && block.type === "opaque") {
    warnings.push("the input of a server tool was cut off and is left out");
  }
  return block;
}

/** A member with the text it began with, as JSON. */
function grownText(
  member: Exclude<GrowingMember, "input">,
  texts: readonly string[],
  members: ReadonlyMap<string, JsonText>,
  start: Fields,
): JsonText {
  switch (member) {
    case "citations":
      return `[${[...itemTexts(members.get("citations") ?? ""), ...texts].join(",")}]`;
    // These come in one piece; a second one would replace the first.
    case "signature":
    case "encrypted_content":
      return JSON.stringify(texts.at(-1));
    case "text":
    case "thinking":
    case "content":
      return JSON.stringify(textOf(start[member]) + texts.join(""));
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
