// Assembly + plan → the body of a Responses request. Nothing is stored there: every call brings its whole input.
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

export function encodeResponses(call: CallToEncode): EncodedRequest {
  const { assembly, model, options } = call;
  const cache = encodeCachePlan(call, ["30m", "12h"]);
  const asked = askedSettings(call, responsesWords);
  const members: readonly Member[] = [
    content("model", JSON.stringify(options.modelName ?? model.id)),
    setting("max_output_tokens", String(options.outputTokensMax)),
    ...(options.stream ? [content("stream", "true")] : []),
    setting("store", "false"),
    // What the model thought comes back sealed, to be sent again.
    ...(model.capabilities.thinking ? [setting("include", '["reasoning.encrypted_content"]')] : []),
    ...toolsMember(assembly),
    content("input", ...writeMessages(assembly, cache.markers)),
    ...cache.members,
    ...asked.members,
  ];
  const notes = [...cache.notes, ...asked.notes, ...leftOutNotes(assembly)];
  return toBody(members, options.extraJson, notes);
}

const responsesWords: SettingWords = {
  api: "the Responses API",
  effort: (json) => setting("reasoning", `{"effort":${json}}`),
  outputFormat: (schema) => setting("text", `{"format":{"type":"json_schema",${schema}}}`),
  namedTool: (name) => `{"type":"function","name":${name}}`,
  takesStopSequences: false,
};
