// The compact endpoint: the conversation in, its user messages and one sealed item out.
import { escapeLoneSurrogates } from "../../../message/json-text.ts";
import type { JsonText, Message } from "../../../message/message.ts";
import type { EncodedRequest } from "../../encoded-request.ts";
import { malformed, type ProviderFailure } from "../../failure.ts";
import { content, ignored, leftOutNotes, toBody, writeMessages } from "../body.ts";
import { encodeCachePlan } from "../cache.ts";
import { parseFields, textIn } from "../../../message/fields.ts";
import type { CallToEncode, CompactionToEncode, ProtocolCompaction } from "../../protocol.ts";
import type { Reply } from "../../reply.ts";
import { outputTexts, responseFailure } from "./decode.ts";
import { toBlocks } from "./items.ts";
import { readItem, responsesPath } from "./schema.ts";
import { readResponsesUsage } from "./usage.ts";

export const compaction: ProtocolCompaction = {
  canStream: false,
  findObstacle: () => null,
  keepsPrefix: (call) => leftInPrefix(call).length === 0,
  encode: encodeCompact,
  decode: decodeCompact,
  messagesIn,
};

function encodeCompact(call: CompactionToEncode): EncodedRequest {
  const { assembly, model, options, instructions = "" } = call;
  const cache = encodeCachePlan(call, { lifetimes: ["30m"], takesCacheKey: true });
  const members = [
    content("model", JSON.stringify(options.modelName ?? model.sentAs ?? model.id)),
    content("input", ...writeMessages(assembly, cache.markers)),
    ...cache.members,
  ];
  const given = Object.entries(options.extraJson ?? {});
  const extraJson = Object.fromEntries(given.filter(([name]) => takenMembers.includes(name)));
  const notes = [
    ...cache.notes,
    ...leftInPrefix(call).map((what) => ignored(`${what}: the compact endpoint takes none`)),
    // Here instructions would become system text before everything that was sent.
    ...(instructions.trim() === ""
      ? []
      : [ignored("the instructions: the compact endpoint sums up in its own way")]),
    ...leftOutNotes(assembly),
  ];
  return toBody({ path: `${responsesPath}/compact`, members, extraJson, notes });
}

const takenMembers: readonly string[] = ["service_tier", "image"];

/** Settings that the prefix depends on and that this endpoint has no member for. */
function leftInPrefix({
  assembly,
  options,
}: Pick<CallToEncode, "assembly" | "options">): readonly string[] {
  const { effort, outputSchemaJson, parallelToolUse, extraJson = {} } = options;
  const { tools } = assembly.thread.foundation;
  const extra = Object.keys(extraJson).filter((name) => membersOfPrefix.includes(name));
  return [
    ...(tools.length === 0 ? [] : ["tools"]),
    ...(effort === undefined ? [] : ["effort"]),
    ...(outputSchemaJson === undefined ? [] : ["the output schema"]),
    ...(parallelToolUse === false ? ["parallel tool use"] : []),
    ...extra,
  ];
}

const membersOfPrefix: readonly string[] = [
  "instructions",
  "parallel_tool_calls",
  "reasoning",
  "text",
  "tools",
];

function decodeCompact(body: string): Reply | ProviderFailure {
  const response = parseFields(body);
  if (response === undefined) return malformed("the answer is not a JSON object");
  const failure = responseFailure(response);
  if (failure !== undefined) return failure;
  if (!Array.isArray(response["output"])) return malformed("the answer has no output");
  const items = outputTexts(escapeLoneSurrogates(body));
  return {
    kind: "reply",
    id: textIn(response, "id") ?? "",
    model: textIn(response, "model") ?? "",
    message: { role: "assistant", content: items.map((json) => ({ type: "opaque", json })) },
    stopReason: items.some(isCompaction) ? "compaction" : "unknown",
    usage: readResponsesUsage(response["usage"]),
    status: "complete",
    transformations: [],
  };
}

/** One message for each item: the user messages, then the sealed item. */
function messagesIn({ message }: Reply): readonly Message[] {
  const items = message.content.flatMap((block) => (block.type === "opaque" ? [block.json] : []));
  return items.some(isCompaction) ? items.map(toMessage) : [];
}

function toMessage(json: JsonText): Message {
  const isSaid = readItem(json)?.kind === "user message";
  return { role: isSaid ? "user" : "assistant", content: toBlocks(json) };
}

function isCompaction(json: JsonText): boolean {
  return readItem(json)?.kind === "compaction";
}
