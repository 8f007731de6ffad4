// Counting tokens of a body that InvokeModel would take: the whole body in base64.
import { toRequest } from "../../encoded-request.ts";
import type { ProtocolCounting } from "../../protocol.ts";
import { toBase64 } from "../base64.ts";
import { readCount } from "../converse/counting.ts";
import { modelPath, readModelPath } from "../model-path.ts";

export const counting: ProtocolCounting = {
  name: "bedrock_invoke_api",
  isAskedAt: (path) => readModelPath(path)?.action === "count-tokens",
  encode: ({ path, pieces }) =>
    toRequest({
      path: modelPath(readModelPath(path)?.model ?? "", "count-tokens"),
      parts: [`{"input":{"invokeModel":{"body":"${toBase64(pieces)}"}}}`],
      headers: { accept: "application/json" },
    }),
  decode: readCount,
};
