// Files that a message names with @: their text and images go to the model with it.
import { readFile, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import type { AgentEvent } from "../../../core/layers/event.ts";
import type { Block } from "../../../core/message/message.ts";
import type { ModelFacts } from "../../../core/models/model-facts.ts";
import { messageOf } from "../../../core/strata-error.ts";
import { ToolError } from "../../../core/tools/tool.ts";
import type { ScopedFiles } from "../../../edge/files/guard/scoped-files.ts";
import { formatBytes } from "../../ledger/render-ledger.ts";

export interface ReadMessage {
  readonly event: AgentEvent;
  /** Files that were named and not sent, and why. */
  readonly problems: readonly string[];
}

const textBytesMax = 200_000;
const imageBytesMax = 5_000_000;

type Files = () => Promise<ScopedFiles>;

/** Text files come from the workspace only, through its guard. An image may be anywhere: the person who types its path may read it. */
export async function readMentions(
  text: string,
  files: Files,
  model: Pick<ModelFacts, "id" | "imageMediaTypes">,
): Promise<ReadMessage> {
  const blocks: Block[] = [];
  const attachments: { readonly path: string }[] = [];
  const problems: string[] = [];
  for (const path of findMentions(text)) {
    const found = await readMention(path, files, model);
    // A word such as @param is no path.
    if (found === null && !/[./]/.test(path)) continue;
    if (found === null) problems.push(`${path} is not sent: there is no such file`);
    else if (typeof found === "string") problems.push(`${path} is not sent: ${found}`);
    else {
      blocks.push(found);
      attachments.push({ path });
    }
  }
  const content = blocks.length === 0 ? text : [...blocks, { type: "text" as const, text }];
  const attached = attachments.length === 0 ? {} : { attachments };
  return { event: { content, source: "human", ...attached }, problems };
}

/** Paths after @, each once; an address such as a@b.c is none. */
export function findMentions(text: string): readonly string[] {
  const found = [...text.matchAll(/(?:^|\s)@(?:"([^"\n]+)"|([^\s"@]+))/g)];
  return [
    ...new Set(found.map(([, quoted, plain = ""]) => quoted ?? plain.replace(/[,.;:!?)]+$/, ""))),
  ].filter((path) => path !== "");
}

/** The block; or why it is not sent; null for a name that is no file. */
async function readMention(
  path: string,
  files: Files,
  model: Pick<ModelFacts, "id" | "imageMediaTypes">,
): Promise<Block | string | null> {
  try {
    const bytesMax = imageBytesMax + 1;
    const isOutside = isAbsolute(path) || path.startsWith("~/");
    const read = isOutside
      ? await readAnywhere(path)
      : await (await files()).readFile(path, { bytesMax });
    if (read === null) return null;
    const mediaType = imageTypeOf(read.bytes);
    if (mediaType !== null) return toImage(read, mediaType, model);
    if (isOutside) return "only images are read from outside the workspace";
    if (read.size > textBytesMax) {
      return `it has ${formatBytes(read.size)}, more than ${formatBytes(textBytesMax)}; the agent can read parts of it`;
    }
    const text = new TextDecoder("utf-8", { fatal: true }).decode(read.bytes);
    return { type: "text", text: `${path}:\n${fenceOf(text)}\n${text}\n${fenceOf(text)}` };
  } catch (error) {
    if (error instanceof TypeError) return "it is neither text nor an image that models take";
    if (error instanceof ToolError && error.errorClass === "not_found") return null;
    return messageOf(error);
  }
}

interface ReadBytes {
  readonly bytes: Uint8Array;
  readonly size: number;
}

async function readAnywhere(path: string): Promise<ReadBytes | null> {
  const place = path.startsWith("~/") ? join(homedir(), path.slice(2)) : path;
  const stats = await stat(place).catch(() => null);
  if (stats?.isFile() !== true) return null;
  if (stats.size > imageBytesMax) return { bytes: new Uint8Array(), size: stats.size };
  return { bytes: await readFile(place), size: stats.size };
}

function toImage(
  { bytes, size }: ReadBytes,
  mediaType: string,
  { id, imageMediaTypes }: Pick<ModelFacts, "id" | "imageMediaTypes">,
): Block | string {
  if (!imageMediaTypes.includes(mediaType)) return `${id} takes no images of the type ${mediaType}`;
  if (size > imageBytesMax)
    return `it has ${formatBytes(size)}, more than ${formatBytes(imageBytesMax)}`;
  const data = Buffer.from(bytes).toString("base64");
  return { type: "image", source: { kind: "base64", mediaType, data } };
}

/** By the first bytes; a name says nothing. */
function imageTypeOf(bytes: Uint8Array): string | null {
  const head = Buffer.from(bytes.subarray(0, 12)).toString("latin1");
  if (head.startsWith("\u0089PNG\r\n")) return "image/png";
  if (head.startsWith("\u00ff\u00d8\u00ff")) return "image/jpeg";
  if (/^GIF8[79]a/.test(head)) return "image/gif";
  return /^RIFF.{4}WEBP/s.test(head) ? "image/webp" : null;
}

/** Longer than any fence in the text. */
function fenceOf(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/^`{3,}/gm)].map(([marks]) => marks.length));
  return "`".repeat(longest + 1);
}
