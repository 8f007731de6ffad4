// Assembly + plan → the body of a Chat Completions request.
import type { EncodedRequest } from "../../encoded-request.ts";
import type { WireRules } from "../../../models/wire-rules.ts";
import { content, setting, type Member } from "../body.ts";
import { encodeOpenai, type BodyWords } from "../encode.ts";
import type { CallToEncode } from "../../protocol.ts";
import { chatPath, type ChatRequest } from "./schema.ts";

export function encodeChat(call: CallToEncode): EncodedRequest<ChatRequest> {
  return encodeOpenai(call, wordsFor(call.model.wire));
}

function wordsFor(wire: WireRules): BodyWords {
  return {
    api: "Chat Completions",
    path: chatPath,
    outputTokensMax: wire.outputLimit,
    messages: "messages",
    lifetimes: ["30m"],
    takesCacheKey: wire.cacheKey,
    ownMembers: ({ options }) => [
      ...(options.stream ? [content("stream", "true")] : []),
      ...(options.stream && wire.streamUsage
        ? [content("stream_options", '{"include_usage":true}')]
        : []),
    ],
    effort: (json) => effortMember(wire.effort, json),
    outputFormat:
      wire.outputSchema === "none"
        ? null
        : (schema) =>
            setting("response_format", `{"type":"json_schema","json_schema":{${schema}}}`),
    takesStrictSchemas: wire.outputSchema === "strict",
    namedTool: (name) => `{"type":"function","function":{"name":${name}}}`,
    takesStopSequences: true,
  };
}

/** Null if the server takes none. */
function effortMember(name: WireRules["effort"], json: string): Member | null {
  switch (name) {
    case "reasoning_effort":
      return setting("reasoning_effort", json);
    case "reasoning":
      return setting("reasoning", `{"effort":${json}}`);
    case "left out":
      return null;
  }
}
