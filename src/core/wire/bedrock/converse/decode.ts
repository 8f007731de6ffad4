// A whole answer of Converse → a reply. Blocks are read from their exact text.
import { fieldsIn, parseFields, textIn, type Fields } from "../../../message/fields.ts";
import { escapeLoneSurrogates, itemTexts, memberTexts } from "../../../message/json-text.ts";
import type { Block, JsonText } from "../../../message/message.ts";
import { malformed, type ProviderFailure } from "../../failure.ts";
import type { Reply, ReplyStop } from "../../reply.ts";
import { excerpt, failureInAnswer } from "../failure.ts";
import { findUsage, readUsage } from "./usage.ts";

export function decodeReply(body: string): Reply | ProviderFailure {
  const fields = parseFields(body);
  if (fields === undefined) return malformed(`the reply is not a JSON object: ${excerpt(body)}`);
  const content = readContent(escapeLoneSurrogates(body));
  if (content === undefined) {
    const without = malformed(`the reply has no list of blocks: ${excerpt(body)}`);
    return failureInAnswer(fields) ?? without;
  }
  const stop = textIn(fields, "stopReason");
  return toReply({ content, stop, usage: findUsage(fields), status: "complete", warnings: [] });
}

/** Undefined if it is not a list of objects. */
function readContent(body: JsonText): readonly Block[] | undefined {
  const output = membersOf(memberTexts(body).get("output"));
  const content = membersOf(output.get("message")).get("content") ?? "";
  if (!content.startsWith("[")) return undefined;
  const texts = itemTexts(content);
  return texts.every((text) => text.startsWith("{")) ? texts.map(readBlock) : undefined;
}

function membersOf(json: JsonText = ""): ReadonlyMap<string, JsonText> {
  return json.startsWith("{") ? memberTexts(json) : new Map();
}

/** A block that we do not know is kept byte for byte. */
function readBlock(json: JsonText): Block {
  const block = parseFields(json) ?? {};
  if (Object.keys(block).length !== 1) return { type: "opaque", json };
  const text = textIn(block, "text");
  if (text !== undefined) return { type: "text", text };
  const input = membersOf(membersOf(json).get("toolUse")).get("input");
  return (
    readToolUse(fieldsIn(block, "toolUse"), input) ??
    readThinking(block) ?? { type: "opaque", json }
  );
}

/** Undefined for a use of the provider's own tools, too: they are not ours to run. */
function readToolUse(use: Fields, inputJson: JsonText | undefined): Block | undefined {
  const [id, name] = [textIn(use, "toolUseId"), textIn(use, "name")];
  const isOurs = (use["type"] ?? null) === null;
  if (id === undefined || name === undefined || inputJson === undefined || !isOurs)
    return undefined;
  return { type: "tool_use", id, name, inputJson };
}

function readThinking(block: Fields): Block | undefined {
  const reasoning = fieldsIn(block, "reasoningContent");
  const data = textIn(reasoning, "redactedContent");
  if (data !== undefined) return { type: "redacted_thinking", data };
  const said = fieldsIn(reasoning, "reasoningText");
  const [text, signature] = [textIn(said, "text"), textIn(said, "signature")];
  if (text === undefined) return undefined;
  return { type: "thinking", text, ...(signature === undefined ? {} : { signature }) };
}

export interface ReplyParts {
  readonly content: readonly Block[];
  readonly stop: string | undefined;
  readonly usage: unknown;
  readonly status: Reply["status"];
  readonly failure?: ProviderFailure;
  readonly warnings: readonly string[];
}

/** The answer names neither itself nor the model. */
export function toReply({ content, stop, usage, status, failure, warnings }: ReplyParts): Reply {
  const reported = readUsage(usage);
  return {
    kind: "reply",
    id: "",
    model: "",
    message: { role: "assistant", content },
    stopReason: toStop(stop),
    usage: { ...reported, warnings: [...reported.warnings, ...warnings] },
    status,
    ...(failure === undefined ? {} : { failure }),
    transformations: [],
  };
}

function toStop(stop = ""): ReplyStop {
  switch (stop) {
    case "end_turn":
    case "tool_use":
    case "max_tokens":
    case "stop_sequence":
    // The model's own, which newer services may pass on.
    case "refusal":
    case "pause_turn":
      return stop;
    case "guardrail_intervened":
    case "content_filtered":
      return "refusal";
    case "model_context_window_exceeded":
      return "context_window";
    // malformed_model_output and malformed_tool_use: what came is not what the model meant.
    default:
      return "unknown";
  }
}
