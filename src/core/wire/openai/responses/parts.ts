// The parts of an input message of the Responses API.
import { fileNameOf, toAddress, type PartWords } from "../parts.ts";
import { toText } from "../spelled.ts";

export const responsesParts: PartWords = {
  api: "the Responses API",
  text: (text) => `{"type":"input_text","text":${toText(text)}}`,
  image: (source) => {
    const where =
      source.kind === "file"
        ? `"file_id":${toText(source.fileId)}`
        : `"image_url":${toAddress(source)}`;
    return `{"type":"input_image","detail":"auto",${where}}`;
  },
  document: (source, title) => {
    switch (source.kind) {
      case "base64": {
        const name = fileNameOf(title, source.mediaType);
        return `{"type":"input_file","filename":${name},"file_data":${toAddress(source)}}`;
      }
      case "file":
        return `{"type":"input_file","file_id":${toText(source.fileId)}}`;
      case "url":
        return `{"type":"input_file","file_url":${toText(source.url)}}`;
    }
  },
};
