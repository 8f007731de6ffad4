// CountTokens: how long the prompt of a Converse or InvokeModel request is.
import type { SimRequest, SimResponse, SurfaceContext } from "../surface.ts";
import { countRequest } from "../anthropic/create-message.ts";
import type { MessagesRequest } from "../anthropic/request/read-request.ts";
import { readInvokeBody } from "./invoke-model.ts";
import { modelOf } from "./model-of.ts";
import { passingOn, readBody, readConverse } from "./read-converse.ts";
import { fields, insideOf, memberOf } from "./read-fields.ts";

export function countTokens(
  { params, bodyText }: SimRequest,
  { counter }: SurfaceContext,
): SimResponse {
  const model = modelOf(params["model"] ?? "");
  const input = fields.placeAt(readBody(bodyText), "input");
  const member = memberOf(input, "input", "CountTokensInput", ["converse", "invokeModel"]);
  const { inside } = insideOf(member);
  const call = { purpose: "count", stream: false } as const;
  const count = (request: MessagesRequest): number => countRequest(request, counter);
  const inputTokens =
    member.kind === "converse"
      ? passingOn(() => count(readConverse(inside, model, call).request))
      : count(
          readInvokeBody(
            Buffer.from(fields.textAt(inside, "body"), "base64").toString(),
            model,
            call,
          ),
        );
  return {
    status: 200,
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ inputTokens }),
  };
}
