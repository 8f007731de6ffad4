// ctx-trace/1 leaves out signatures and pictures. This puts in stand-ins of the same size, for counting.
import { StrataError } from "../../../core/strata-error.ts";
import { countIn, fieldsOf, isObject, textIn, type Fields } from "../../../core/message/fields.ts";

/** How many characters of stand-ins a session may still have. A few bytes can ask for millions. */
export interface StubBudget {
  characters: number;
}

export function createStubBudget(): StubBudget {
  return { characters: 20_000_000 };
}

/** Takes a message, or a block with inner blocks. Throws when the budget is spent. */
export function expandStubs(holder: Fields, budget: StubBudget): Fields {
  const { content } = holder;
  if (!Array.isArray(content)) return holder;
  return {
    ...holder,
    content: content.map((block: unknown) =>
      isObject(block) ? expandBlock(block, budget) : block,
    ),
  };
}

function expandBlock(block: Fields, budget: StubBudget): Fields {
  switch (block["type"]) {
    case "thinking":
      return {
        ...block,
        signature: textIn(block, "signature") ?? textOf(block, "sig_chars", budget),
      };
    case "redacted_thinking":
      return { ...block, data: textIn(block, "data") ?? textOf(block, "data_chars", budget) };
    case "image":
      return { ...block, source: pictureOf(block) ?? fieldsOf(block["source"]) };
    default:
      return expandStubs(block, budget);
  }
}

function textOf(block: Fields, key: string, budget: StubBudget): string {
  const characters = countIn(block, key) ?? 0;
  if (characters > budget.characters) {
    throw new StrataError(
      "input-invalid",
      `its ${key} of ${characters} is more than a session can have`,
      "correct or remove the line",
    );
  }
  budget.characters -= characters;
  return "x".repeat(characters);
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
