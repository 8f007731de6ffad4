// The parts of a message in both OpenAI protocols: text, images, files, tool results.
import type { Block, JsonText, MediaSource, ToolResultBlock } from "../../message/message.ts";
import { toText, type Leave, type Part } from "./spelled.ts";

/** Bytes, or their address. */
export type FileSource = Exclude<MediaSource, { readonly kind: "text" }>;

/** Forms that differ between the two protocols. */
export interface PartWords {
  readonly api: string;
  text(text: string): JsonText;
  image(source: FileSource): JsonText;
  /** Undefined if the protocol cannot carry it. */
  document(source: FileSource, title: string | undefined): JsonText | undefined;
}

/** Undefined if the block was left out. */
export function partOf(block: Block, words: PartWords, leave: Leave): Part | undefined {
  const written = spellPart(block, words);
  if (typeof written !== "string") return { ...written, content: [block] };
  leave(block, written);
  return undefined;
}

/** A part, or why there is none. */
function spellPart(block: Block, words: PartWords): Omit<Part, "content"> | string {
  const text = plainText(block);
  if (text !== undefined) {
    return text === "" ? "it holds no text" : { json: words.text(text), kind: "text" };
  }
  if (block.type === "image") {
    const { source } = block;
    if (source.kind === "text") return "an image is not text";
    return { json: words.image(source), kind: "image" };
  }
  if (block.type !== "document" || block.source.kind === "text") {
    return `a message of ${words.api} cannot carry it`;
  }
  const json = words.document(block.source, block.title);
  if (json === undefined) return `${words.api} takes no address of a document`;
  return { json, kind: "document" };
}

/** The text of a plain text block; undefined for any other. */
export function plainText(block: Block): string | undefined {
  if (block.type === "text") return block.text;
  if (block.type !== "document" || block.source.kind !== "text") return undefined;
  const { title, source } = block;
  return title === undefined ? source.data : `${title}\n\n${source.data}`;
}

/**
 * A tool result with its failure as text: neither protocol has a member that says a tool
 * failed. Text that begins with "error" says so already.
 */
export function resultContent({ content, isError }: ToolResultBlock): readonly Block[] {
  if (!isError) return content;
  const at = content.findIndex(({ type }) => type === "text");
  const first = content[at];
  if (first?.type !== "text") return [{ type: "text", text: "Error:" }, ...content];
  if (/^\s*error/i.test(first.text)) return content;
  return content.with(at, { type: "text", text: `Error: ${first.text}` });
}

/** The address of an image or a file; inline data becomes a data URL. */
export function toAddress(source: Exclude<FileSource, { readonly kind: "file" }>): JsonText {
  if (source.kind === "url") return toText(source.url);
  return toText(`data:${source.mediaType};base64,${source.data}`);
}

/** The provider finds a file's kind by its name. */
export function fileNameOf(title: string | undefined, mediaType: string): JsonText {
  const kind = mediaType.slice(mediaType.indexOf("/") + 1);
  return toText(title ?? `document.${kind}`);
}
