// Counting tokens of a Converse request: its prompt below a member that names the API.
import { countIn, parseFields } from "../../../message/fields.ts";
import { memberTexts } from "../../../message/json-text.ts";
import { objectText } from "../../../message/json-tree.ts";
import { bodyText, toRequest } from "../../encoded-request.ts";
import type { ProtocolCounting } from "../../protocol.ts";
import { modelPath, readModelPath } from "../model-path.ts";

export const counting: ProtocolCounting = {
  name: "bedrock_api",
  isAskedAt: (path) => readModelPath(path)?.action === "count-tokens",
  encode: ({ path, pieces }) => {
    const json = bodyText(pieces);
    const members = parseFields(json) === undefined ? [] : [...memberTexts(json)];
    const taken = members.filter(([name]) => counted.has(name));
    return toRequest({
      path: modelPath(readModelPath(path)?.model ?? "", "count-tokens"),
      parts: [`{"input":{"converse":${objectText(taken)}}}`],
      headers: { accept: "application/json" },
    });
  },
  decode: readCount,
};

/** By the types of @aws-sdk/client-bedrock-runtime 3.1162, checked 2026-11-18. */
const counted: ReadonlySet<string> = new Set([
  "messages",
  "system",
  "toolConfig",
  "additionalModelRequestFields",
]);

/** Every prompt has tokens, so zero is not a valid count. */
export function readCount(body: string): number | null {
  const tokens = countIn(parseFields(body) ?? {}, "inputTokens") ?? 0;
  return tokens > 0 ? tokens : null;
}
