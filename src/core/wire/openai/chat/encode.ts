// Assembly + plan → the body of a Chat Completions request.
import type { EncodedRequest } from "../../encoded-request.ts";
import { content, setting } from "../body.ts";
import { encodeOpenai, type BodyWords } from "../encode.ts";
import type { CallToEncode } from "../../protocol.ts";
import { chatPath, type ChatRequest } from "./schema.ts";

export function encodeChat(call: CallToEncode): EncodedRequest<ChatRequest> {
  return encodeOpenai(call, words);
}

const words: BodyWords = {
  api: "Chat Completions",
  path: chatPath,
  outputTokensMax: "max_completion_tokens",
  messages: "messages",
  lifetimes: ["30m"],
  ownMembers: ({ options }) =>
    options.stream
      ? [content("stream", "true"), content("stream_options", '{"include_usage":true}')]
      : [],
  effort: (json) => setting("reasoning_effort", json),
  outputFormat: (schema) =>
    setting("response_format", `{"type":"json_schema","json_schema":{${schema}}}`),
  namedTool: (name) => `{"type":"function","function":{"name":${name}}}`,
  takesStopSequences: true,
};
