// Counting tokens of a request of generateContent.
import { isCount, parseFields } from "../../message/fields.ts";
import { omitMembers } from "../counting.ts";
import { toRequest } from "../encoded-request.ts";
import type { ProtocolCounting } from "../protocol.ts";

/** What Vertex does not take in a count. By the provider's SDK, checked 2026-11-18. */
const omitted: ReadonlySet<string> = new Set([
  "toolConfig",
  "safetySettings",
  "labels",
  "serviceTier",
]);

/** The Gemini API takes the whole request under one name; Vertex takes its members. */
export const counting: ProtocolCounting = {
  name: "gemini_api",
  isAskedAt: (path) => path.includes(method),
  encode: ({ path, pieces, headers }) => {
    const resource = path.replace(/:\w+(?:\?.*)?$/, "");
    const counted = `${resource}${method}`;
    const model = /\/v1\w*\/(.+)$/.exec(resource)?.[1];
    if (model === undefined) {
      return toRequest({ path: counted, parts: omitMembers(pieces, omitted), headers });
    }
    const open = `{"generateContentRequest":{"model":${JSON.stringify(model)},`;
    return toRequest({ path: counted, parts: [open, ...withoutBrace(pieces), "}"], headers });
  },
  decode: (body) => {
    const tokens = parseFields(body)?.["totalTokens"];
    // Every prompt has tokens, so zero is not a valid count.
    return isCount(tokens) && tokens > 0 ? tokens : null;
  },
};

const method = ":countTokens";

/** The body without its opening brace, with which it begins. */
function withoutBrace([first, ...rest]: readonly Uint8Array[]): readonly Uint8Array[] {
  return first === undefined ? [] : [first.subarray(1), ...rest];
}
