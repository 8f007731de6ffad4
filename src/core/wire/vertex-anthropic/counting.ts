// Counting tokens of a request to Claude on Vertex: at a path of its own, so that the body names the model.
import { notCounted } from "../anthropic-messages/counting.ts";
import { omitMembers, readCount } from "../counting.ts";
import { bodyText, toRequest } from "../encoded-request.ts";
import type { ProtocolCounting } from "../protocol.ts";
import { countingModel, modelPath, readModelPath } from "./model-path.ts";

export const counting: ProtocolCounting = {
  name: "vertex_anthropic_api",
  isAskedAt: (path) => nameIn(path) === countingModel,
  encode: ({ path, pieces, headers }) => {
    const { pieces: kept } = toRequest({ path, parts: omitMembers(pieces, notCounted) });
    const body = bodyText(kept);
    const named = body.startsWith('{"') ? `{"model":${JSON.stringify(nameIn(path))},` : "";
    return toRequest({
      path: modelPath(countingModel, false),
      parts: named === "" ? kept : [named, body.slice(1)],
      headers,
    });
  },
  decode: readCount,
};

/** Empty for another path. */
function nameIn(path: string): string {
  return readModelPath(path)?.replace(/^.*\/models\//, "") ?? "";
}
