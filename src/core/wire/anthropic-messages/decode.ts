// A whole reply → our form. Blocks are read from their exact text.
import { type Fields, fieldsOf, listOf, parseFields } from "../../message/fields.ts";
import { decodeBlock } from "../../message/decode-message.ts";
import { escapeLoneSurrogates, itemTexts, memberTexts } from "../../message/json-text.ts";
import type { Block, JsonText } from "../../message/message.ts";
import { malformed, type ProviderFailure } from "../failure.ts";
import type { Reply, ReplyStop } from "../reply.ts";
import { excerpt, toFailure } from "./failure.ts";
import { textOf } from "./schema.ts";
import { readUsage } from "./usage.ts";

export function decodeReply(body: string): Reply | ProviderFailure {
  const fields = parseFields(body);
  if (fields === undefined) return malformed(`the reply is not a JSON object: ${excerpt(body)}`);
  if (fields["type"] === "error") return toFailure(fields);
  const content = readContent(memberTexts(escapeLoneSurrogates(body)).get("content") ?? "");
  if (content === undefined) {
    return malformed(`the reply's content is not a list of blocks: ${excerpt(body)}`);
  }
  return toReply({ fields, content, status: "complete", warnings: [] });
}

/** Undefined if it is not a list of objects; null counts as an empty list. */
function readContent(json: JsonText): readonly Block[] | undefined {
  if (json === "null") return [];
  if (!json.startsWith("[")) return undefined;
  const texts = itemTexts(json);
  return texts.every((text) => text.startsWith("{")) ? texts.map(decodeBlock) : undefined;
}

export interface ReplyParts {
  /** The message's own members; of a stream, those that have arrived. */
  readonly fields: Fields;
  readonly content: readonly Block[];
  readonly status: Reply["status"];
  readonly failure?: ProviderFailure;
  readonly warnings: readonly string[];
}

export function toReply({ fields, content, status, failure, warnings }: ReplyParts): Reply {
  const usage = readUsage(fields["usage"]);
  const diagnosis = diagnosisOf(fieldsOf(fields["diagnostics"])["cache_miss_reason"]);
  return {
    kind: "reply",
    id: textOf(fields["id"]),
    model: textOf(fields["model"]),
    message: { role: "assistant", content },
    stopReason: toStop(fields["stop_reason"]),
    usage: { ...usage, warnings: [...usage.warnings, ...warnings] },
    status,
    ...(failure === undefined ? {} : { failure }),
    ...(diagnosis === "" ? {} : { diagnosis }),
    transformations: [...readTransformations(fields), ...readEdits(fields)],
  };
}

/** Null while the provider still compares. */
function diagnosisOf(reason: unknown): string {
  return reason === null ? "pending" : textOf(fieldsOf(reason)["type"]);
}

function toStop(value: unknown): ReplyStop {
  switch (value) {
    case "end_turn":
    case "tool_use":
    case "max_tokens":
    case "stop_sequence":
    case "refusal":
    case "pause_turn":
    case "compaction":
      return value;
    case "model_context_window_exceeded":
      return "context_window";
    default:
      return "unknown";
  }
}

function readTransformations(fields: Fields): string[] {
  return listOf(fields["input_transformations"]).map((each) => {
    const { type, path, reason } = fieldsOf(each);
    return `${textOf(type)} ${textOf(path)}: ${textOf(reason)}`;
  });
}

function readEdits(fields: Fields): string[] {
  return listOf(fieldsOf(fields["context_management"])["applied_edits"]).map((each) => {
    const { type, cleared_input_tokens: tokens } = fieldsOf(each);
    return `${textOf(type)}: ${typeof tokens === "number" ? tokens : "unknown"} input tokens cleared`;
  });
}
