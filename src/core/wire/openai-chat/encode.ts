// Assembly + plan → the body of a Chat Completions request.
import type { EncodedRequest } from "../encoded-request.ts";
import {
  content,
  leftOutNotes,
  setting,
  toBody,
  toolsMember,
  writeMessages,
  type Member,
} from "../openai-body.ts";
import { encodeCachePlan } from "../openai-cache.ts";
import { askedSettings, type SettingWords } from "../openai-settings.ts";
import type { CallToEncode } from "../protocol.ts";

export function encodeChat(call: CallToEncode): EncodedRequest {
  const { assembly, model, options } = call;
  const cache = encodeCachePlan(call, ["30m"]);
  const asked = askedSettings(call, chatWords);
  const members: readonly Member[] = [
    content("model", JSON.stringify(options.modelName ?? model.id)),
    setting("max_completion_tokens", String(options.outputTokensMax)),
    ...(options.stream
      ? [content("stream", "true"), content("stream_options", '{"include_usage":true}')]
      : []),
    ...toolsMember(assembly),
    content("messages", ...writeMessages(assembly, cache.markers)),
    ...cache.members,
    ...asked.members,
  ];
  const notes = [...cache.notes, ...asked.notes, ...leftOutNotes(assembly)];
  return toBody(members, options.extraJson, notes);
}

const chatWords: SettingWords = {
  api: "Chat Completions",
  effort: (json) => setting("reasoning_effort", json),
  outputFormat: (schema) =>
    setting("response_format", `{"type":"json_schema","json_schema":{${schema}}}`),
  namedTool: (name) => `{"type":"function","function":{"name":${name}}}`,
  takesStopSequences: true,
};
