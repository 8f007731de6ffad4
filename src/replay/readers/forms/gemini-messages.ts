// Converts the messages of gemini-cli: parts and tool calls to blocks of the Messages API, token counts to usage.
import {
  countIn,
  fieldsIn,
  fieldsOf,
  isObject,
  listIn,
  listOf,
  textIn,
  type Fields,
} from "../../../core/message/fields.ts";
import type { Usage } from "../../../core/message/usage.ts";
import type { BlockDraft, Drafting } from "../block-draft.ts";
import { draftMessage } from "./messages-form.ts";

/** What the message adds to the next request. A reply holds the results of its tools too. */
export function draftEntry(message: Fields, drafting: Drafting): BlockDraft[] {
  const calls = listIn(message, "toolCalls").map(fieldsOf);
  const known = new Set(calls.map(({ id }) => id));
  const parts = toParts(message["content"]).filter((part) => !isKnownCall(part, known));
  const isReply = message["type"] === "gemini";
  const said = {
    role: isReply ? "assistant" : "user",
    content: [...parts.flatMap(toBlock), ...calls.map(toToolUse)],
  };
  const results = calls.flatMap((call) => toParts(call["result"]).flatMap(toBlock));
  return [
    ...(said.content.length === 0 ? [] : draftMessage(said, drafting)),
    ...(results.length === 0 ? [] : draftMessage({ role: "user", content: results }, drafting)),
  ];
}

/** The ids of tool calls whose results the message holds. */
export function answeredCalls(message: Fields): string[] {
  return listIn(message, "toolCalls")
    .map(fieldsOf)
    .filter((call) => toParts(call["result"]).length > 0)
    .flatMap((call) => textIn(call, "id") ?? []);
}

/** Without the results that an earlier message holds. */
export function withoutResults(message: Fields, answered: ReadonlySet<string>): Fields {
  const content = toParts(message["content"]).filter(
    (part) => !answered.has(textIn(fieldsIn(part, "functionResponse"), "id") ?? ""),
  );
  return { ...message, content };
}

function toParts(content: unknown): readonly Fields[] {
  if (typeof content === "string") return content === "" ? [] : [{ text: content }];
  if (isObject(content)) return [content];
  return listOf(content).map((part) =>
    typeof part === "string" ? { text: part } : fieldsOf(part),
  );
}

function isKnownCall(part: Fields, known: ReadonlySet<unknown>): boolean {
  return isObject(part["functionCall"]) && known.has(part["functionCall"]["id"]);
}

/** Nothing for a thought, which is not sent back. */
function toBlock(part: Fields): Fields[] {
  if (part["thought"] === true) return [];
  if (typeof part["text"] === "string") return [{ type: "text", text: part["text"] }];
  if (isObject(part["functionCall"])) return [toToolUse(part["functionCall"])];
  if (isObject(part["functionResponse"])) {
    const { id, response } = part["functionResponse"];
    const content = JSON.stringify(response ?? null);
    return [{ type: "tool_result", tool_use_id: id, content }];
  }
  if (isObject(part["inlineData"])) {
    const { mimeType, data } = part["inlineData"];
    const source = { type: "base64", media_type: mimeType, data };
    return [{ type: String(mimeType).startsWith("image/") ? "image" : "document", source }];
  }
  return [{ type: "text", text: JSON.stringify(part) }];
}

function toToolUse(call: Fields): Fields {
  return { type: "tool_use", id: call["id"], name: call["name"], input: call["args"] };
}

export interface GeminiUsage {
  readonly usage: Usage;
  /** Tokens of what the provider's own tools found: input that is in no message. */
  readonly toolTokens: number;
}

/** Null if the prompt's tokens are missing. The input includes what was cached; the output excludes thoughts. */
export function readTokens(message: Fields): GeminiUsage | null {
  const tokens = fieldsIn(message, "tokens");
  const input = countIn(tokens, "input");
  if (input === undefined) return null;
  const read = Math.min(countIn(tokens, "cached") ?? 0, input);
  const toolTokens = countIn(tokens, "tool") ?? 0;
  return {
    toolTokens,
    usage: {
      uncachedTokens: input - read + toolTokens,
      cacheReadTokens: read,
      cacheWriteTokens: {},
      outputTokens: countIn(tokens, "output") ?? 0,
      reasoningTokens: countIn(tokens, "thoughts") ?? 0,
    },
  };
}
