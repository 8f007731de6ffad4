// Converts the parts of opencode's messages to blocks of the Messages API, and its token counts to usage.
import { countIn, fieldsIn, isObject, textIn, type Fields } from "../../../core/message/fields.ts";
import type { Usage } from "../../../core/message/usage.ts";
import { findProtocolCalled } from "../../../core/wire/foreign/recognise-protocol.ts";
import type { Protocol } from "../../../core/wire/protocol.ts";
import type { BlockDraft, Drafting } from "../block-draft.ts";
import { draftMessage } from "../forms/messages-form.ts";

/** What the parts of a user's message add to the next request. */
export function draftUser(parts: readonly Fields[], drafting: Drafting): BlockDraft[] {
  const content = parts.flatMap(toUserBlock);
  return content.length === 0 ? [] : draftMessage({ role: "user", content }, drafting);
}

/** What a step of a reply adds to the next request: what the model made, then the results of its tools. */
export function draftStep(parts: readonly Fields[], drafting: Drafting): BlockDraft[] {
  const content = parts.flatMap(toReplyBlock);
  const results = parts.flatMap(toResult);
  return [
    ...(content.length === 0 ? [] : draftMessage({ role: "assistant", content }, drafting)),
    ...(results.length === 0 ? [] : draftMessage({ role: "user", content: results }, drafting)),
  ];
}

/** Files of text are also there as synthetic text; other kinds of parts are not sent. */
function toUserBlock(part: Fields): Fields[] {
  switch (part["type"]) {
    case "text":
      return part["ignored"] === true ? [] : [{ type: "text", text: part["text"] }];
    case "file":
      return toFile(part);
    case "subtask":
      return [{ type: "text", text: textIn(part, "prompt") ?? "" }];
    case "compaction":
      return [{ type: "text", text: "What did we do so far?" }];
    default:
      return [];
  }
}

function toFile(part: Fields): Fields[] {
  const mime = textIn(part, "mime") ?? "";
  if (mime === "text/plain" || mime === "application/x-directory") return [];
  const data = (textIn(part, "url") ?? "").replace(/^data:[^,]*,/, "");
  const source = { type: "base64", media_type: mime, data };
  return [{ type: mime.startsWith("image/") ? "image" : "document", source }];
}

function toReplyBlock(part: Fields): Fields[] {
  switch (part["type"]) {
    case "text":
      return [{ type: "text", text: part["text"] }];
    case "reasoning":
      return [{ type: "thinking", thinking: part["text"] }];
    case "tool": {
      const { input } = fieldsIn(part, "state");
      return [{ type: "tool_use", id: part["callID"], name: part["tool"], input }];
    }
    default:
      return [];
  }
}

/** A result may have been cleared later; when, the recording says, but earlier requests had all of it. */
function toResult(part: Fields): Fields[] {
  const state = fieldsIn(part, "state");
  const { status } = state;
  if (part["type"] !== "tool" || (status !== "completed" && status !== "error")) return [];
  const hasFailed = status === "error";
  return [
    {
      type: "tool_result",
      tool_use_id: part["callID"],
      content: textIn(state, hasFailed ? "error" : "output") ?? "",
      ...(hasFailed ? { is_error: true } : {}),
    },
  ];
}

/** When the last tool of a step ended; null without tools. */
export function toolsEndedMs(parts: readonly Fields[]): number | null {
  const times = parts.flatMap(
    (part) => countIn(fieldsIn(fieldsIn(part, "state"), "time"), "end") ?? [],
  );
  return times.length === 0 ? null : Math.max(...times);
}

export function protocolOf(info: Fields): Protocol | undefined {
  return findProtocolCalled(textIn(info, "providerID") ?? "");
}

/** Null if there are no counts, or all are 0: opencode writes zeros before it knows them. */
export function readUsage(tokens: unknown, protocol: Protocol | undefined): Usage | null {
  if (!isObject(tokens) || countIn(tokens, "input") === undefined) return null;
  const cache = fieldsIn(tokens, "cache");
  const written = countIn(cache, "write") ?? 0;
  const lifetime = protocol?.foreign.cacheDefaults.lifetime ?? "30m";
  const usage: Usage = {
    uncachedTokens: countIn(tokens, "input") ?? 0,
    cacheReadTokens: countIn(cache, "read") ?? 0,
    cacheWriteTokens: written > 0 ? { [lifetime]: written } : {},
    outputTokens: countIn(tokens, "output") ?? 0,
    reasoningTokens: countIn(tokens, "reasoning") ?? 0,
  };
  return usage.uncachedTokens + usage.cacheReadTokens + written === 0 ? null : usage;
}
