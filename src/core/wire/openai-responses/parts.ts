// The parts of an input message of the Responses API: text, images, files.
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
  if (block.type === "text") return textPartOf(block, block.text, leave);
  leave(block, "an input message of the Responses API cannot carry it");
  return undefined;
}

export function textPart(text: string): JsonText {
  return `{"type":"input_text","text":${toText(text)}}`;
}

function textPartOf(block: Block, text: string, leave: Leave): Part | undefined {
  if (text !== "") return { json: textPart(text), kind: "text", content: [block] };
  leave(block, "it holds no text");
  return undefined;
}

function imagePart(block: ImageBlock, leave: Leave): Part | undefined {
  const { source } = block;
  const image = (where: string): Part => ({
    json: `{"type":"input_image","detail":"auto",${where}}`,
    kind: "image",
    content: [block],
  });
  switch (source.kind) {
    case "base64":
      return image(`"image_url":${toDataUrl(source)}`);
    case "url":
      return image(`"image_url":${toText(source.url)}`);
    case "file":
      return image(`"file_id":${toText(source.fileId)}`);
    case "text":
      leave(block, "an image is not text");
      return undefined;
  }
}

function documentPart(block: DocumentBlock, leave: Leave): Part | undefined {
  const { source, title } = block;
  const file = (members: string): Part => ({
    json: `{"type":"input_file",${members}}`,
    kind: "document",
    content: [block],
  });
  switch (source.kind) {
    case "base64":
      return file(
        `"filename":${fileNameOf(title, source.mediaType)},"file_data":${toDataUrl(source)}`,
      );
    case "url":
      return file(`"file_url":${toText(source.url)}`);
    case "file":
      return file(`"file_id":${toText(source.fileId)}`);
    case "text":
      return textPartOf(block, documentText(title, source.data), leave);
  }
}
