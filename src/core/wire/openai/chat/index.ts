// The Chat Completions API of OpenAI, which many others speak too.
import { readOpenaiFailure } from "../failure.ts";
import type { Protocol } from "../../protocol.ts";
import { decodeChat } from "./decode.ts";
import { encodeChat } from "./encode.ts";
import { chatSpelling } from "./spelling.ts";
import { chatStream } from "./stream.ts";

export const openaiChat: Protocol = {
  name: "openai-chat",
  path: "/chat/completions",
  writesMarkers: true,
  spelling: () => chatSpelling,
  encode: encodeChat,
  decode: decodeChat,
  stream: chatStream,
  readFailure: readOpenaiFailure,
};
