// Estimating, calibration, budgets. A raw count is what we see in a message, before any model's factor.
// It is stored and never rewritten.
import type { Block, DocumentBlock, ImageBlock, JsonText, Message } from "../message/message.ts";
import { characterKind, kindOf } from "./character-kind.ts";
import { imageSize } from "./image-size.ts";
import type { TextCounter } from "./o200k/counter.ts";
import { isObject } from "../message/fields.ts";

/** Features in a fixed order. The priors give each one a weight. */
export const rawFeatures = [
  /** o200k tokens of text and of tool results. */
  "textTokens",
  /** o200k tokens of tool inputs without JSON's quotes and escapes: keys, strings, numbers. */
  "inputTokens",
  /** o200k tokens of tool inputs as JSON text. */
  "inputJsonTokens",
  /** Top-level arguments of tool uses. */
  "toolArguments",
  "toolUses",
  "toolResults",
  /**
   * What the texts above are made of. Prose, code, JSON, tables and base64 differ in these, and another vocabulary
   * than o200k joins their parts differently. A run is one or more characters of the kind in a row.
   */
  "smallLetters",
  "capitalRuns",
  "digits",
  "digitRuns",
  /** ASCII punctuation. */
  "markRuns",
  "lineBreakRuns",
  /** Chinese, Japanese, Korean. */
  "ideographs",
  /** Letters with accents and of other scripts. */
  "otherLetters",
  /** Signs, arrows, boxes. */
  "symbols",
  /** Halves of characters beyond 16 bits, such as emoji. */
  "surrogates",
  "thinkingBlocks",
  /** Characters of thinking signatures and redacted thinking. The cost of replaying thinking follows these. */
  "signatureCharacters",
  /** Pixels of images with a readable size. */
  "imagePixels",
  "imagesOfUnknownSize",
  "documents",
  /** Messages the model wrote. */
  "replies",
] as const;

export type RawFeature = (typeof rawFeatures)[number];
export type RawCount = Readonly<Record<RawFeature, number>>;

export const noRawCount: RawCount = {
  textTokens: 0,
  inputTokens: 0,
  inputJsonTokens: 0,
  toolArguments: 0,
  toolUses: 0,
  toolResults: 0,
  smallLetters: 0,
  capitalRuns: 0,
  digits: 0,
  digitRuns: 0,
  markRuns: 0,
  lineBreakRuns: 0,
  ideographs: 0,
  otherLetters: 0,
  symbols: 0,
  surrogates: 0,
  thinkingBlocks: 0,
  signatureCharacters: 0,
  imagePixels: 0,
  imagesOfUnknownSize: 0,
  documents: 0,
  replies: 0,
};

/** Counts one message. Everything else about tokens is arithmetic on the result. */
export function countMessage(message: Message, counter: TextCounter): RawCount {
  const count = { ...noRawCount };
  if (message.role === "assistant") count.replies = 1;
  for (const block of message.content) addBlock(count, block, counter);
  return count;
}

/** For text outside messages: a system prompt, tool definitions. */
export function countText(text: string, counter: TextCounter): RawCount {
  const count = { ...noRawCount };
  addText(count, text, counter);
  return count;
}

export function addRawCounts(left: RawCount, right: RawCount): RawCount {
  const sum = { ...left };
  for (const feature of rawFeatures) sum[feature] += right[feature];
  return sum;
}

type Growing = Record<RawFeature, number>;

function addBlock(count: Growing, block: Block, counter: TextCounter): void {
  switch (block.type) {
    case "text":
      addText(count, block.text, counter);
      return;
    case "tool_use": {
      const input = plainInput(block.inputJson);
      count.toolUses += 1;
      count.toolArguments += input.arguments;
      count.inputTokens += counter.count(input.text);
      count.inputJsonTokens += counter.count(block.inputJson);
      addCharacters(count, input.text);
      return;
    }
    case "tool_result":
      count.toolResults += 1;
      for (const part of block.content) addBlock(count, part, counter);
      return;
    case "thinking":
      // The thinking text is not billed again; its signature stands for it.
      count.thinkingBlocks += 1;
      count.signatureCharacters += block.signature?.length ?? 0;
      return;
    case "redacted_thinking":
      count.thinkingBlocks += 1;
      count.signatureCharacters += block.data.length;
      return;
    case "image":
      addImage(count, block);
      return;
    case "document":
      addDocument(count, block, counter);
      return;
    case "compaction":
      addText(count, block.content ?? "", counter);
      return;
    case "opaque":
      addText(count, block.json, counter);
      return;
  }
}

function addText(count: Growing, text: string, counter: TextCounter): void {
  count.textTokens += counter.count(text);
  addCharacters(count, text);
}

function addCharacters(count: Growing, text: string): void {
  let before = 0;
  let smallLetters = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    const kind = kindOf(code);
    // By far the most frequent.
    if (kind === characterKind.smallLetter) smallLetters += 1;
    else addCharacter(count, code, kind, before);
    before = kind;
  }
  count.smallLetters += smallLetters;
}

function addCharacter(count: Growing, code: number, kind: number, before: number): void {
  switch (kind) {
    case characterKind.capital:
      if (kind !== before) count.capitalRuns += 1;
      return;
    case characterKind.digit:
      count.digits += 1;
      if (kind !== before) count.digitRuns += 1;
      return;
    case characterKind.mark:
      if (kind !== before) count.markRuns += 1;
      return;
    case characterKind.lineBreak:
      if (kind !== before) count.lineBreakRuns += 1;
      return;
    case characterKind.ideograph:
      count.ideographs += 1;
      return;
    case characterKind.otherLetter:
      count.otherLetters += 1;
      return;
    case characterKind.symbol:
      // File viewers print an arrow after each line's number. It is part of that line's end, not a symbol.
      if (code !== arrow || before !== characterKind.digit) count.symbols += 1;
      return;
    case characterKind.surrogate:
      count.surrogates += 1;
      return;
  }
}

const arrow = 0x2192;

function addImage(count: Growing, block: ImageBlock): void {
  const size = block.source.kind === "base64" ? imageSize(block.source.data) : undefined;
  if (size === undefined) count.imagesOfUnknownSize += 1;
  else count.imagePixels += size.width * size.height;
}

function addDocument(count: Growing, block: DocumentBlock, counter: TextCounter): void {
  if (block.source.kind === "text") addText(count, block.source.data, counter);
  else count.documents += 1;
  if (block.title !== undefined) addText(count, block.title, counter);
}

interface PlainInput {
  /** Keys and values, one per line, in written order. */
  readonly text: string;
  /** Members of the outermost object. */
  readonly arguments: number;
}

/** Text that is not JSON stays as it is: free-form tool inputs are already plain text. */
export function plainInput(inputJson: JsonText): PlainInput {
  let input: unknown;
  try {
    input = JSON.parse(inputJson);
  } catch {
    return { text: inputJson, arguments: 0 };
  }
  const lines: string[] = [];
  // A stack instead of recursion, because inputs may be nested to any depth.
  const waiting: unknown[] = [input];
  while (waiting.length > 0) {
    const value = waiting.pop();
    if (Array.isArray(value)) {
      for (let at = value.length - 1; at >= 0; at -= 1) waiting.push(value[at]);
    } else if (typeof value === "object" && value !== null) {
      for (const [key, part] of Object.entries(value).toReversed()) waiting.push(part, key);
    } else {
      lines.push(String(value));
    }
  }
  return { text: lines.join("\n"), arguments: memberCount(input) };
}

function memberCount(input: unknown): number {
  return isObject(input) ? Object.keys(input).length : 0;
}
