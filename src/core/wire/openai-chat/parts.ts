// The parts of a message of Chat Completions: text, images, files.
import type { Block, DocumentBlock, ImageBlock, JsonText } from "../../message/message.ts";
import {
  documentText,
  fileNameOf,
  toDataUrl,
  toText,
  type Leave,
  type Part,
} from "../openai-spelled.ts";

/** Undefined for what was left out. */
export function partOf(block: Block, leave: Leave): Part | undefined {
  if (block.type === "image") return imagePart(block, leave);
  if (block.type === "document") return documentPart(block, leave);
  if (block.type !== "text") {
    leave(block, "a message of Chat Completions cannot carry it");
    return undefined;
  }
  return textPartOf(block, block.text, leave);
}

function textPartOf(block: Block, text: string, leave: Leave): Part | undefined {
  if (text !== "") return { json: textPart(text), kind: "text", content: [block] };
  leave(block, "it holds no text");
  return undefined;
}

export function textPart(text: string): JsonText {
  return `{"type":"text","text":${toText(text)}}`;
}

function imagePart(block: ImageBlock, leave: Leave): Part | undefined {
  const { source } = block;
  const written = { kind: "image", content: [block] } as const;
  switch (source.kind) {
    case "base64":
      return { ...written, json: `{"type":"image_url","image_url":{"url":${toDataUrl(source)}}}` };
    case "url":
      return { ...written, json: `{"type":"image_url","image_url":{"url":${toText(source.url)}}}` };
    case "file":
      return { ...written, json: filePart(source.fileId) };
    case "text":
      leave(block, "an image is not text");
      return undefined;
  }
}

function documentPart(block: DocumentBlock, leave: Leave): Part | undefined {
  const { source, title } = block;
  const written = { kind: "document", content: [block] } as const;
  switch (source.kind) {
    case "base64": {
      const file = `"filename":${fileNameOf(title, source.mediaType)},"file_data":${toDataUrl(source)}`;
      return { ...written, json: `{"type":"file","file":{${file}}}` };
    }
    case "text":
      return textPartOf(block, documentText(title, source.data), leave);
    case "file":
      return { ...written, json: filePart(source.fileId) };
    case "url":
      leave(block, "Chat Completions takes no address of a document");
      return undefined;
  }
}

function filePart(fileId: string): JsonText {
  return `{"type":"file","file":{"file_id":${toText(fileId)}}}`;
}
