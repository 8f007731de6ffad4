// A body of the Messages API as Vertex carries it: the model is in the path, the version in the body.
import { betaHeader, encodeBody, nameOfModel } from "../anthropic-messages/encode.ts";
import type { MessagesRequest } from "../anthropic-messages/schema.ts";
import type { EncodedRequest } from "../encoded-request.ts";
import type { CallPlace, CallToEncode } from "../protocol.ts";
import { modelPath } from "./model-path.ts";

/** What Google's documents name since 2023. @anthropic-ai/vertex-sdk 1.1 sends the version of the Messages API; both are taken. */
const version = "vertex-2023-10-16";

export type RawPredictRequest = Omit<MessagesRequest, "model"> & { anthropic_version: string };

export function rawPredictPath({ model, stream }: CallPlace): string {
  return modelPath(model, stream);
}

export function encodeRequest(call: CallToEncode): EncodedRequest<RawPredictRequest> {
  const { options } = call;
  const stream = options.stream ? ',"stream":true' : "";
  return encodeBody(call, {
    path: rawPredictPath({ model: nameOfModel(call), stream: options.stream }),
    head: `"anthropic_version":"${version}","max_tokens":${options.outputTokensMax}${stream}`,
    headers: {},
    betas: { header: betaHeader },
    ownMembers: ["anthropic_version"],
  });
}
