// A body of the Messages API as Bedrock carries it: the model and the kind of answer are in the path, the version and the betas in the body.
import { encodeBody, nameOfModel } from "../../anthropic-messages/encode.ts";
import type { EncodedRequest } from "../../encoded-request.ts";
import type { CallPlace, CallToEncode } from "../../protocol.ts";
import { modelPath } from "../model-path.ts";
import { version, type InvokeRequest } from "./schema.ts";

export function invokePath({ model, stream }: CallPlace): string {
  return modelPath(model, stream ? "invoke-with-response-stream" : "invoke");
}

export function encodeRequest(call: CallToEncode): EncodedRequest<InvokeRequest> {
  const { options } = call;
  return encodeBody(call, {
    path: invokePath({ model: nameOfModel(call), stream: options.stream }),
    head: `"anthropic_version":"${version}","max_tokens":${options.outputTokensMax}`,
    // The form of the model's answer, not that of the frames around it.
    headers: { accept: "application/json" },
    betas: { member: "anthropic_beta" },
    ownMembers: ["anthropic_version", "anthropic_beta"],
  });
}
