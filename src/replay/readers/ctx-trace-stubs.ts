// ctx-trace/1 leaves out signatures and pictures. This puts in stand-ins of the same size, for counting.
import { countIn, fieldsOf, isObject, textIn, type Fields } from "../../core/message/fields.ts";

/** Takes a message, or a block with inner blocks. */
export function expandStubs(holder: Fields): Fields {
  const { content } = holder;
  if (!Array.isArray(content)) return holder;
  return {
    ...holder,
    content: content.map((block: unknown) => (isObject(block) ? expandBlock(block) : block)),
  };
}

function expandBlock(block: Fields): Fields {
  switch (block["type"]) {
    case "thinking":
      return { ...block, signature: textIn(block, "signature") ?? textOf(block, "sig_chars") };
    case "redacted_thinking":
      return { ...block, data: textIn(block, "data") ?? textOf(block, "data_chars") };
    case "image":
      return { ...block, source: pictureOf(block) ?? fieldsOf(block["source"]) };
    default:
      return expandStubs(block);
  }
}

const charactersMax = 10_000_000;

function textOf(block: Fields, key: string): string {
  return "x".repeat(Math.min(countIn(block, key) ?? 0, charactersMax));
}

/** Counting reads only the header of a picture. */
function pictureOf(block: Fields): Fields | undefined {
  const [width, height] = [countIn(block, "w"), countIn(block, "h")];
  if (width === undefined || height === undefined) return undefined;
  const header = Buffer.alloc(24);
  header.writeUInt32BE(0x89504e47, 0);
  header.writeUInt32BE(Math.min(width, 0xffffffff), 16);
  header.writeUInt32BE(Math.min(height, 0xffffffff), 20);
  return { type: "base64", media_type: "image/png", data: header.toString("base64") };
}
