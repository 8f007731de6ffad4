// POST /v1/responses and its sub-routes: counting, and compaction into one item that only the provider can read.
import type { SimRequest, SimResponse, SurfaceContext } from "../surface.ts";
import { unknownParameter } from "./api-error.ts";
import { diagnose, type Diagnostics } from "./diagnose.ts";
import { fields, find, readBody, type Place } from "./request/fields.ts";
import { jsonHeaders } from "./headers.ts";
import type { Item, Part } from "./request/items.ts";
import { readResponses, type Known, type ReadResponses } from "./request/read-responses.ts";
import { render } from "./render/render.ts";
import { statusOf, toResponse, toSeconds, type ResponseReply } from "./reply/response-object.ts";
import { responseEvents } from "./reply/responses-events.ts";
import { toItem, toOutputItems, type OutputItem, type Shown } from "./reply/responses-output.ts";
import { answerOf, recordCall, runCall, type Call } from "./run-call.ts";
import type { Compared } from "./stored-responses.ts";
import { seal } from "./render/sealed.ts";
import { toResponsesUsage } from "./reply/usage.ts";

export function answerResponses(
  request: SimRequest,
  context: SurfaceContext,
  known: Known,
): SimResponse {
  const body = readBody(request.bodyText);
  const read = readResponses(body, "responses", known);
  const { prewarm } = read.request.cache;
  const id = context.newId("resp_");
  const call = runCall(id, read.request, context, prewarm ? "nothing" : "reply");
  const compared = toCompared(call);
  const reply: ResponseReply = {
    call,
    body,
    output: toOutputItems(call.produced, context),
    shown: readShown(body),
    diagnostics: diagnosticsOf(call, compared, known),
    createdAt: toSeconds(context),
  };
  remember(reply, read, compared, known);
  recordCall(call, prewarm ? "prewarm" : statusOf(reply), context);
  const isStream = fields.findFlag(body, "stream") === true;
  const answered = isStream ? responseEvents(reply) : JSON.stringify(toResponse(reply));
  return answerOf(call, answered, context);
}

/** The same count as in the bill of a response to this request. */
export function countInputTokens(
  request: SimRequest,
  context: SurfaceContext,
  known: Known,
): SimResponse {
  const asked = readBody(request.bodyText);
  for (const name of asked.object.fields.keys()) {
    if (!countedParameters.has(name)) throw unknownParameter(name);
  }
  const read = readResponses(asked, "responses", known);
  const { totalTokens } = render(read.request, context.counter);
  const body = { object: "response.input_tokens", input_tokens: totalTokens };
  return { status: 200, headers: jsonHeaders(context), body: JSON.stringify(body) };
}

/** The parameters the provider's SDK sends here. That others are refused is our assumption. */
const countedParameters: ReadonlySet<string> = new Set([
  "conversation",
  "input",
  "instructions",
  "model",
  "parallel_tool_calls",
  "personality",
  "previous_response_id",
  "reasoning",
  "text",
  "tool_choice",
  "tools",
  "truncation",
]);

function readShown(body: Place): Shown {
  const reasoning = fields.findPlace(body, "reasoning");
  const summaries = ["summary", "generate_summary"];
  const include = find(body, "include");
  return {
    summary: reasoning !== null && summaries.some((key) => find(reasoning, key) !== null),
    sealed:
      include?.kind === "list" &&
      include.items.some(
        (each) => each.kind === "string" && each.text === "reasoning.encrypted_content",
      ),
  };
}

function toCompared({ request, rendering, open }: Call): Compared {
  const kept = open.bill.markers.filter(
    ({ outcome }) => outcome === "written" || outcome === "hit",
  );
  return {
    modelId: request.facts.id,
    // A copy: substrings of the body would keep the whole body in memory.
    settings: structuredClone(request.settings.billable),
    blocks: request.facts.cache.markers === null ? [] : rendering.blocks,
    compactions: request.items.filter(({ kind }) => kind === "compaction").length,
    reusableTokens: kept.reduce(
      (longest, { tokens }) => Math.max(longest, tokens),
      open.bill.readTokens,
    ),
  };
}

function diagnosticsOf(call: Call, now: Compared, { store, workspace }: Known): Diagnostics | null {
  const { comparisonId } = call.request.cache;
  if (comparisonId === null) return null;
  const before = store.find(workspace, comparisonId);
  return diagnose(now, before?.compared ?? null, call.open.bill);
}

/** Diagnostics need every response; the conversation is stored unless the client opts out. */
function remember(
  { call, body, output }: ResponseReply,
  { conversation }: ReadResponses,
  compared: Compared,
  { store, workspace }: Known,
): void {
  const isStored = fields.findFlag(body, "store") ?? true;
  const made = isStored ? output.flatMap(toNamed) : [];
  store.put(workspace, {
    id: call.id,
    items: isStored ? [...conversation, ...made.map(({ item }) => item)] : null,
    itemsById: new Map(made.map(({ id, item }) => [id, item])),
    compared,
  });
}

function toNamed(output: OutputItem): { id: string; item: Item }[] {
  const item = toItem(output);
  return item === null ? [] : [{ id: output.id, item }];
}

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
