// The pieces of a stream → blocks, as if the reply had come in one answer.
import { itemsOf, type ListView } from "../../../growing/growing-list.ts";
import { fieldsIn, isObject, textIn, type Fields } from "../../../message/fields.ts";
import type { Block } from "../../../message/message.ts";
import { excerpt } from "../failure.ts";

/** A piece of a block in one event. Nothing is joined until the end. */
export type Piece =
  | {
      readonly kind: "tool use";
      readonly index: number;
      readonly id: string;
      readonly name: string;
      /** Whether the provider's own tool is used: it is not ours to run. */
      readonly isForeign: boolean;
    }
  | {
      readonly kind: "delta";
      readonly index: number;
      readonly member: GrowingMember;
      readonly text: string;
    }
  | { readonly kind: "unknown"; readonly index: number; readonly type: string };

type GrowingMember = "text" | "thinking" | "signature" | "redacted" | "input";

/** The pieces in the start of a block or in more of it. Text begins without a start. */
export function toPieces(index: number, event: Fields): readonly Piece[] {
  const [start, delta] = [fieldsIn(event, "start"), fieldsIn(event, "delta")];
  const pieces: Piece[] = [];
  const grow = (member: GrowingMember, text: string | undefined): void => {
    if (text !== undefined) pieces.push({ kind: "delta", index, member, text });
  };
  for (const [type, value] of Object.entries(start)) {
    if (type !== "toolUse" || !isObject(value)) pieces.push({ kind: "unknown", index, type });
    else {
      const [id = "", name = ""] = [textIn(value, "toolUseId"), textIn(value, "name")];
      const isForeign = (value["type"] ?? null) !== null;
      pieces.push({ kind: "tool use", index, id, name, isForeign });
    }
  }
  for (const [type, value] of Object.entries(delta)) {
    if (type === "text") grow("text", textIn(delta, "text"));
    else if (type === "toolUse") grow("input", textIn(fieldsIn(delta, type), "input"));
    else if (type === "reasoningContent" && isObject(value)) {
      grow("thinking", textIn(value, "text"));
      grow("signature", textIn(value, "signature"));
      grow("redacted", textIn(value, "redactedContent"));
    } else pieces.push({ kind: "unknown", index, type });
  }
  return pieces;
}

export interface JoinedBlocks {
  readonly content: readonly Block[];
  /** What could not be used. */
  readonly warnings: readonly string[];
}

/** Only so many kinds of lost pieces are named: each is a warning on the record. */
const lostKindsMax = 10;

interface Draft {
  use: Extract<Piece, { readonly kind: "tool use" }> | null;
  readonly grown: Map<GrowingMember, string[]>;
}

export function joinPieces(pieces: ListView<Piece>): JoinedBlocks {
  const drafts = new Map<number, Draft>();
  const lost = new Map<string, number>();
  const lose = (what: string): void => {
    const named = lost.has(what) || lost.size < lostKindsMax ? what : "of further unknown types";
    lost.set(named, (lost.get(named) ?? 0) + 1);
  };
  for (const piece of itemsOf(pieces)) {
    const draft = drafts.get(piece.index) ?? { use: null, grown: new Map() };
    if (piece.kind === "unknown") lose(`of the unknown type "${excerpt(piece.type)}"`);
    else {
      drafts.set(piece.index, draft);
      const texts = piece.kind === "delta" ? draft.grown.get(piece.member) : undefined;
      if (piece.kind === "tool use") draft.use = piece;
      else if (texts === undefined) draft.grown.set(piece.member, [piece.text]);
      else texts.push(piece.text);
    }
  }
  const content = [...drafts.values()].flatMap((draft) => toBlock(draft, lose));
  return {
    content,
    warnings: [...lost].map(([what, count]) => `left out: ${count} pieces ${what}`),
  };
}

function toBlock({ use, grown }: Draft, lose: (what: string) => void): readonly Block[] {
  const joined = (member: GrowingMember): string | undefined => grown.get(member)?.join("");
  if (use !== null) {
    const { id, name } = use;
    if (use.isForeign) {
      lose("of a tool of the provider");
      return [];
    }
    const input = joined("input") ?? "";
    // An input that is no JSON was cut off. It is kept: validation and encoding will find it.
    return [{ type: "tool_use", id, name, inputJson: input.trim() === "" ? "{}" : input.trim() }];
  }
  const [thinking, signature] = [joined("thinking"), joined("signature")];
  const [text, data] = [joined("text"), joined("redacted")];
  const blocks: Block[] = [];
  if (thinking !== undefined || signature !== undefined) {
    const signed = signature === undefined ? {} : { signature };
    blocks.push({ type: "thinking", text: thinking ?? "", ...signed });
  }
  if (data !== undefined) blocks.push({ type: "redacted_thinking", data });
  if (text !== undefined) blocks.push({ type: "text", text });
  if (blocks.length === 0) lose("of a block that never began");
  return blocks;
}
