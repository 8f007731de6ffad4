// A body of the Messages API as Vertex carries it: the model is in the path, the version in the body.
import { betaHeader, encodeBody, nameOfModel } from "../anthropic-messages/encode.ts";
import type { EncodedRequest } from "../encoded-request.ts";
import type { CallPlace, CallToEncode } from "../protocol.ts";
import { modelPath } from "./model-path.ts";
import { version, type RawPredictRequest } from "./schema.ts";

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
