// Converse and ConverseStream: read, answer, bill, write.
import type { SimRequest, SimResponse, SurfaceContext } from "../surface.ts";
import { answerMessages } from "../anthropic/create-message.ts";
import { modelOf } from "./model-of.ts";
import { passingOn, readBody, readConverse } from "./read-converse.ts";
import { streamContentType } from "./frames.ts";
import { converseEvents, converseText, type Conversed } from "./write-converse.ts";

export function converse(
  { params, bodyText }: SimRequest,
  call: { readonly requestId: string; readonly stream: boolean },
  context: SurfaceContext,
): SimResponse {
  const { requestId, stream } = call;
  const model = modelOf(params["model"] ?? "");
  const read = readConverse(readBody(bodyText), model, { purpose: "create", stream });
  // Other tiers and optimized latency cost more or less than our facts say.
  const isUsual = (read.tier ?? "default") === "default" && read.latency !== "optimized";
  const { outcome, open } = passingOn(() =>
    answerMessages(
      read.request,
      { requestId, surface: "bedrock", idPrefix: "msg_bdrk_", priceShare: isUsual ? 1 : null },
      { ...context, newId: (prefix) => context.newId(prefix === "toolu_" ? "tooluse_" : prefix) },
      null,
    ),
  );
  const conversed: Conversed = { ...read, outcome };
  if (!stream)
    return {
      status: 200,
      headers: { "content-type": "application/json" },
      body: converseText(conversed),
      bill: open,
    };
  return {
    status: 200,
    headers: { "content-type": streamContentType },
    body: { [Symbol.iterator]: () => converseEvents(conversed) },
    bill: open,
  };
}
