// Converts pi's content and usage.
import type { Usage } from "../../../core/message/usage.ts";
import { countIn, fieldsOf, isObject, textIn, type Fields } from "../../../core/message/fields.ts";
import { findProtocolCalled } from "../../../core/wire/foreign/recognise-protocol.ts";
import type { Protocol } from "../../../core/wire/protocol.ts";

/** To blocks of the Messages API. */
export function toContent(content: unknown): unknown {
  if (!Array.isArray(content)) return content;
  return content.map((item: unknown) => {
    const block = fieldsOf(item);
    switch (block["type"]) {
      case "thinking":
        return {
          type: "thinking",
          thinking: block["thinking"],
          signature: block["thinkingSignature"],
        };
      case "toolCall":
        return {
          type: "tool_use",
          id: block["id"],
          name: block["name"],
          input: block["arguments"],
        };
      case "image":
        return {
          type: "image",
          source: { type: "base64", media_type: block["mimeType"], data: block["data"] },
        };
      default:
        return { type: block["type"], text: block["text"] };
    }
  });
}

/** From the API the message names, otherwise from its provider. */
export function protocolOf(message: Fields): Protocol | undefined {
  return findProtocolCalled(textIn(message, "api") ?? textIn(message, "provider") ?? "");
}

/** Null if the prompt tokens are missing. */
export function usageOf(message: Fields): Usage | null {
  const usage = message["usage"];
  if (!isObject(usage) || countIn(usage, "input") === undefined) return null;
  const written = countIn(usage, "cacheWrite") ?? 0;
  const long = Math.min(countIn(usage, "cacheWrite1h") ?? 0, written);
  const short = protocolOf(message)?.foreign.cacheDefaults.lifetime ?? "30m";
  const output = countIn(usage, "output") ?? 0;
  const reasoningTokens = Math.min(countIn(usage, "reasoning") ?? 0, output);
  return {
    uncachedTokens: countIn(usage, "input") ?? 0,
    cacheReadTokens: countIn(usage, "cacheRead") ?? 0,
    cacheWriteTokens: {
      ...(written - long > 0 ? { [short]: written - long } : {}),
      ...(long > 0 ? { "1h": long } : {}),
    },
    outputTokens: output - reasoningTokens,
    reasoningTokens,
  };
}
