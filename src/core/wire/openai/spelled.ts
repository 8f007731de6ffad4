// Messages and items as both OpenAI protocols join them: each closed in itself, one array for all.
import type { PromptRole } from "../../assembly/prompt-block.ts";
import type { LeftOut, Spelled, SpelledBlock, Written } from "../../assembly/spelling.ts";
import type { Block, JsonText, Message } from "../../message/message.ts";
import { parseFields, textIn } from "../../message/fields.ts";

/** A block before it is joined to the earlier ones. */
export type Piece = Pick<SpelledBlock, "json" | "kind" | "markerFromEnd" | "content">;

/** One message or item of the array, in one piece or in several. */
export interface Entry {
  readonly role: PromptRole;
  readonly pieces: readonly Piece[];
}

/** A part of a message's content that may carry a marker. */
export type Part = Omit<Piece, "markerFromEnd">;

/** Reports a block that the protocol cannot carry. */
export type Leave = (block: Block, reason: string) => void;

/** An entry that ends with a list of parts: `open`, `[`, the parts, `]}`. */
export function entryOfParts(role: PromptRole, open: string, parts: readonly Part[]): Entry {
  const last = parts.length - 1;
  return {
    role,
    pieces: parts.map((part, index) => ({
      ...part,
      json: `${index === 0 ? `${open}[` : ","}${part.json}${index === last ? "]}" : ""}`,
      // Before the closing brace of the part itself.
      markerFromEnd: index === last ? 3 : 1,
    })),
  };
}

/** An entry that ends with one string: `open`, `"`, the texts with a blank line between them, `"}`. */
export function entryOfTexts(
  role: PromptRole,
  open: string,
  texts: readonly (Omit<Piece, "json" | "markerFromEnd"> & { readonly text: string })[],
): Entry {
  const last = texts.length - 1;
  return {
    role,
    pieces: texts.map(({ text, ...piece }, index) => ({
      ...piece,
      json: `${index === 0 ? `${open}"` : blankLine}${inString(text)}${index === last ? '"}' : ""}`,
      markerFromEnd: null,
    })),
  };
}

/** More text for a message that is already closed. The body is opened again where it is sent (body.ts). */
export function continuation(text: string): JsonText {
  return `${blankLine}${inString(text)}"}`;
}

const blankLine = String.raw`\n\n`;

/** The text as it stands between the quotes of a JSON string. */
function inString(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** An entry that cannot carry a marker. */
export function plainEntry(role: PromptRole, piece: Omit<Piece, "markerFromEnd">): Entry {
  return { role, pieces: [{ ...piece, markerFromEnd: null }] };
}

/** The entries of one message, joined to what is already written. */
export function toSpelled(
  message: Message,
  entries: readonly Entry[],
  written: Written,
  leftOut: readonly LeftOut[],
): Spelled {
  const blocks = entries.flatMap(({ role, pieces }, entry) =>
    pieces.map((piece, index): SpelledBlock => {
      const isFirst = written.blockCount === 0 && entry === 0;
      const joined = index === 0 && !isFirst ? `,${piece.json}` : piece.json;
      const endsMessage = entry === entries.length - 1 && index === pieces.length - 1;
      return { ...piece, json: joined, role, endsMessage };
    }),
  );
  if (blocks.length === 0) return { blocks, written, leftOut };
  const blockCount = written.blockCount + blocks.length;
  return { blocks, written: { ...written, lastRole: message.role, blockCount }, leftOut };
}

export function toText(text: string): JsonText {
  return JSON.stringify(text);
}

/** The text of a block or of a summary; undefined for a block that is not text. */
export function textOfBlock(block: Block): string | undefined {
  if (block.type === "text") return block.text;
  return block.type === "compaction" ? (block.content ?? "") : undefined;
}

/** The name of a block for reports. */
export function nameOf(block: Block): string {
  if (block.type !== "opaque") return block.type;
  const type = textIn(parseFields(block.json) ?? {}, "type");
  return type === undefined ? "a block of an unknown type" : `a block of type ${type}`;
}
