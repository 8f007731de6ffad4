// POST /v1/responses/compact: returns all user messages and one item that only the provider can read.
import type { SimRequest, SimResponse, SurfaceContext } from "../surface.ts";
import { readBody } from "./request/fields.ts";
import type { Item, Part } from "./request/items.ts";
import { readResponses, type Known } from "./request/read-responses.ts";
import { toSeconds } from "./reply/response-object.ts";
import { answerOf, recordCall, runCall } from "./run-call.ts";
import { seal } from "./render/sealed.ts";
import { toResponsesUsage } from "./reply/usage.ts";

export function answerCompact(
  request: SimRequest,
  context: SurfaceContext,
  known: Known,
): SimResponse {
  const body = readBody(request.bodyText);
  const { request: read, conversation } = readResponses(body, "compact", known);
  const call = runCall(context.newId("resp_"), read, context, "summary");
  const summary = call.produced.parts
    .flatMap((part) => (part.kind === "text" ? [part.text] : []))
    .join("\n");
  recordCall(call, "completed", context);
  const compacted = {
    id: call.id,
    object: "response.compaction",
    created_at: toSeconds(context),
    output: [
      ...conversation.flatMap((item) => toKept(item, context)),
      { id: context.newId("cmp_"), type: "compaction", encrypted_content: seal(summary) },
    ],
    usage: toResponsesUsage(call.open.bill, call.produced, read.facts),
  };
  return answerOf(call, JSON.stringify(compacted), context);
}

function toKept(item: Item, { newId }: SurfaceContext): object[] {
  if (item.kind !== "message" || item.role !== "user") return [];
  const content = item.parts.map(toContent);
  return [{ id: newId("msg_"), type: "message", status: "completed", role: "user", content }];
}

function toContent(part: Part): unknown {
  if (part.kind === "text") return { type: "input_text", text: part.text };
  const content: unknown = JSON.parse(part.source);
  return content;
}
