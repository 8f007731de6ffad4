// A response object → a reply, with every item's exact text at hand.
import { escapeLoneSurrogates, itemTexts, memberTexts } from "../../../message/json-text.ts";
import type { Block, JsonText } from "../../../message/message.ts";
import { malformed, type ProviderFailure } from "../../failure.ts";
import { failureIn } from "../failure.ts";
import { fieldsIn, parseFields, textIn, type Fields } from "../../../message/fields.ts";
import type { Reply, ReplyStop } from "../../reply.ts";
import { toBlocks } from "./items.ts";
import { readItem } from "./schema.ts";
import { findResponsesUsage, readResponsesUsage } from "./usage.ts";

export function decodeResponses(body: string): Reply | ProviderFailure {
  const response = parseFields(body);
  if (response === undefined) return malformed("the answer is not a JSON object");
  const failure = responseFailure(response);
  if (!Array.isArray(response["output"])) return failure ?? malformed("the answer has no output");
  const items = outputTexts(escapeLoneSurrogates(body));
  if (failure !== undefined && items.length === 0) return failure;
  return toReply(response, items, items.flatMap(toBlocks), failure ?? null);
}

/** Why a response failed; undefined if it did not. */
export function responseFailure(response: Fields): ProviderFailure | undefined {
  const failure = failureIn(response);
  if (failure !== undefined || textIn(response, "status") !== "failed") return failure;
  const detail = "the response failed without a reason";
  return { kind: "server-error", detail, retryAfterMs: undefined };
}

/** The items of a response, each exactly as it is written there. */
export function outputTexts(json: JsonText): readonly JsonText[] {
  return itemTexts(memberTexts(json).get("output") ?? "");
}

/** Builds the reply from the response and its items. */
export function toReply(
  response: Fields,
  items: readonly JsonText[],
  content: readonly Block[],
  failure: ProviderFailure | null,
): Reply {
  const status = textIn(response, "status");
  const isWhole = failure === null && (status === "completed" || status === "incomplete");
  const diagnosis = diagnosisOf(response);
  return {
    kind: "reply",
    id: textIn(response, "id") ?? "",
    model: textIn(response, "model") ?? "",
    message: { role: "assistant", content },
    stopReason: isWhole ? toStop(response, items) : "unknown",
    usage: readResponsesUsage(findResponsesUsage(response)),
    status: isWhole ? "complete" : "partial",
    ...(failure === null ? {} : { failure }),
    ...(diagnosis === undefined ? {} : { diagnosis }),
    transformations: [],
  };
}

function toStop(response: Fields, items: readonly JsonText[]): ReplyStop {
  if (textIn(response, "status") === "incomplete") {
    const reason = textIn(fieldsIn(response, "incomplete_details"), "reason");
    if (reason === "max_output_tokens") return "max_tokens";
    return reason === "content_filter" ? "refusal" : "unknown";
  }
  const read = items.map(readItem);
  if (read.some((item) => item?.kind === "call" || isCustomCall(item))) return "tool_use";
  const refuses = read.some((item) => item?.kind === "message" && item.isRefusal);
  return refuses ? "refusal" : "end_turn";
}

function isCustomCall(item: ReturnType<typeof readItem>): boolean {
  return item?.kind === "other" && item.type === "custom_tool_call";
}

function diagnosisOf(response: Fields): string | undefined {
  const diagnostics = fieldsIn(response, "prompt_cache_diagnostics");
  const type = textIn(diagnostics, "type");
  if (type === "cache_hit") return undefined;
  return type === "cache_miss" ? textIn(diagnostics, "reason") : type;
}
