// The Chat Completions API of OpenAI, which many others speak too.
import { chatAccess } from "../access.ts";
import { readOpenaiFailure } from "../failure.ts";
import { encodeRefusal } from "../refusal.ts";
import { limitEvents } from "../../limit-events.ts";
import type { Protocol } from "../../protocol.ts";
import { decodeChat } from "./decode.ts";
import { encodeChat } from "./encode.ts";
import { foreign } from "./foreign.ts";
import { chatPath, findChatUsage, type ChatRequest } from "./schema.ts";
import { chatSpelling } from "./spelling.ts";
import { chatStream } from "./stream.ts";
import { readChatUsage } from "./usage.ts";

export const openaiChat: Protocol<"openai-chat", ChatRequest> = {
  name: "openai-chat",
  title: "Chat Completions",
  access: chatAccess,
  path: () => chatPath,
  writesMarkers: true,
  spelling: chatSpelling,
  encode: encodeChat,
  decode: decodeChat,
  stream: limitEvents(chatStream),
  // Every chunk names the members; most have nothing in them. A tool call begins with its name.
  tellingEvents:
    /\[DONE\]|"(?:usage|error|timings|x_groq)"\s*:\s*[^\sn]|"(?:finish_reason|refusal|name)"\s*:\s*"/,
  readFailure: readOpenaiFailure,
  encodeRefusal,
  findUsage: findChatUsage,
  readUsage: readChatUsage,
  foreign,
};
