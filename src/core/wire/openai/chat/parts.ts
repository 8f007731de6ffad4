// The parts of a message of Chat Completions.
import type { JsonText } from "../../../message/message.ts";
import { fileNameOf, toAddress, type PartWords } from "../parts.ts";
import { toText } from "../spelled.ts";

export const chatParts: PartWords = {
  api: "Chat Completions",
  text: (text) => `{"type":"text","text":${toText(text)}}`,
  image: (source) =>
    source.kind === "file"
      ? filePart(`"file_id":${toText(source.fileId)}`)
      : `{"type":"image_url","image_url":{"url":${toAddress(source)}}}`,
  document: (source, title) => {
    switch (source.kind) {
      case "base64":
        return filePart(
          `"filename":${fileNameOf(title, source.mediaType)},"file_data":${toAddress(source)}`,
        );
      case "file":
        return filePart(`"file_id":${toText(source.fileId)}`);
      case "url":
        return undefined;
    }
  },
};

function filePart(members: string): JsonText {
  return `{"type":"file","file":{${members}}}`;
}
