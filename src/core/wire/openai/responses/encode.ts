// Assembly + plan → the body of a Responses request. The provider stores nothing: every call sends its whole input.
import type { EncodedRequest } from "../../encoded-request.ts";
import { content, setting } from "../body.ts";
import { encodeOpenai, type BodyWords } from "../encode.ts";
import type { CallToEncode, ProtocolPrewarm } from "../../protocol.ts";
import { responsesPath, type ResponsesRequest } from "./schema.ts";

export function encodeResponses(call: CallToEncode): EncodedRequest<ResponsesRequest> {
  return encodeOpenai(call, words);
}

const words: BodyWords = {
  api: "the Responses API",
  path: responsesPath,
  outputTokensMax: "max_output_tokens",
  messages: "input",
  lifetimes: ["30m", "12h"],
  takesCacheKey: true,
  ownMembers: ({ model, options }) => [
    ...(options.stream ? [content("stream", "true")] : []),
    setting("store", "false"),
    // Asks for the sealed thinking, so that it can be sent again.
    ...(model.capabilities.thinking ? [setting("include", '["reasoning.encrypted_content"]')] : []),
  ],
  effort: (json) => setting("reasoning", `{"effort":${json}}`),
  outputFormat: (schema) => setting("text", `{"format":{"type":"json_schema",${schema}}}`),
  takesStrictSchemas: true,
  namedTool: (name) => `{"type":"function","name":${name}}`,
  takesStopSequences: false,
};

/** Caching without a reply: the same request with `prewarm` in its cache options. */
export const prewarm: ProtocolPrewarm = {
  findObstacle: ({ options }) =>
    options.extraJson?.["prompt_cache_options"] === undefined
      ? null
      : "cache options of the application's own",
  encode: (call) => {
    const options = { ...call.options, stream: false };
    return encodeOpenai({ ...call, options }, { ...words, isPrewarm: true });
  },
};
