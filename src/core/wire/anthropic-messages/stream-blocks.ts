// The pieces of a stream → blocks, as if the reply had come in one answer.
import { growingList, itemsOf, type GrowingList } from "../../growing/growing-list.ts";
import { decodeBlock } from "../../message/decode-message.ts";
import { parseFields, type Fields } from "../../message/fields.ts";
import { escapeLoneSurrogates, itemTexts, memberTexts } from "../../message/json-text.ts";
import { objectText } from "../../message/json-tree.ts";
import type { Block, JsonText } from "../../message/message.ts";
import { excerpt } from "./failure.ts";
import { textOf } from "./schema.ts";

/** A piece of a block. Text stays as it came; nothing is read again until the end. */
export type Piece =
  /** The block as it began, in its exact text. */
  | { readonly kind: "start"; readonly index: number; readonly json: JsonText }
  | DeltaPiece
  | { readonly kind: "unknown"; readonly type: string };

/** What one event, or several in a row, added to a member. */
export interface DeltaPiece {
  readonly kind: "delta";
  readonly index: number;
  readonly member: GrowingMember;
  readonly text: string;
  readonly events: number;
}

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
  return typeof text === "string" ? [{ kind: "delta", index, member, text, events: 1 }] : [];
}

/** The pieces of a stream so far. The last one may still grow, so it stands apart. */
export interface Pieces {
  readonly done: GrowingList<Piece>;
  readonly last: Piece | null;
}

export const noPieces: Pieces = { done: growingList(), last: null };

/** Text that goes on with the text before it becomes one piece with it. */
export function addPiece({ done, last }: Pieces, piece: Piece): Pieces {
  if (last === null) return { done, last: piece };
  if (piece.kind === "delta" && last.kind === "delta" && continues(piece, last)) {
    const { index, member } = piece;
    // The engine joins strings by reference: the text is copied once, when it is read.
    const text = last.text + piece.text;
    return { done, last: { kind: "delta", index, member, text, events: last.events + 1 } };
  }
  return { done: done.append([last]), last: piece };
}

function continues(piece: DeltaPiece, last: DeltaPiece): boolean {
  return piece.index === last.index && piece.member === last.member && isText(piece.member);
}

/** Whether its pieces are one text; the others are apart from each other. */
function isText(member: GrowingMember): boolean {
  switch (member) {
    case "text":
    case "thinking":
    case "input":
    case "content":
      return true;
    case "signature":
    case "citations":
    case "encrypted_content":
      return false;
  }
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

export function joinPieces({ done, last }: Pieces): JoinedBlocks {
  const drafts: Draft[] = [];
  const byIndex = new Map<number, Draft>();
  const lost = new Map<string, number>();
  const lose = (what: string, events: number): void => {
    const named = lost.has(what) || lost.size < lostKindsMax ? what : "of further unknown types";
    lost.set(named, (lost.get(named) ?? 0) + events);
  };
  for (const piece of itemsOf(last === null ? done : done.append([last]))) {
    if (piece.kind === "unknown") lose(`of the unknown type "${excerpt(piece.type)}"`, 1);
    else if (piece.kind === "start") {
      const draft: Draft = { json: piece.json, grown: new Map() };
      byIndex.set(piece.index, draft);
      drafts.push(draft);
    } else {
      const grown = byIndex.get(piece.index)?.grown;
      const texts = grown?.get(piece.member);
      if (grown === undefined) lose("of a block that never began", piece.events);
      else if (texts === undefined) grown.set(piece.member, [piece.text]);
      else texts.push(piece.text);
    }
  }
  const warnings = [...lost].map(([what, count]) => `left out: ${count} deltas ${what}`);
  return { content: drafts.map((draft) => toBlock(draft, warnings)), warnings };
}

function toBlock(draft: Draft, warnings: string[]): Block {
  const { json, grown } = draft;
  const plain = toPlainText(draft);
  if (plain !== undefined) return plain;
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

/** A block of nothing but text, without spelling and reading that text once more; undefined for others. */
function toPlainText({ json, grown }: Draft): Block | undefined {
  const texts = grown.get("text");
  if (texts === undefined || grown.size > 1) return undefined;
  const begun = decodeBlock(json);
  // One that was spelled in another way keeps its spelling.
  if (begun.type !== "text" || begun.json !== undefined) return undefined;
  return { type: "text", text: begun.text + texts.join("") };
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
