// Parts of the AI SDK's messages and replies → our blocks. A part without a matching block becomes its JSON, or is left out.
import type { Block, MediaSource } from "../../core/message/message.ts";
import { optionIn, type SdkPart } from "./sdk-call.ts";

/** Null for a part that is not sent, or not by itself. */
export function toBlock(part: SdkPart): Block | null {
  switch (part.type) {
    case "text":
      return part.text.trim() === "" ? null : { type: "text", text: part.text };
    case "file":
      return toMedia(part);
    case "reasoning":
      return toThinking(part);
    case "tool-call": {
      const { toolCallId: id, toolName: name, input } = part;
      return { type: "tool_use", id, name, inputJson: toJson(input) };
    }
    case "tool-result":
      return "output" in part ? toResult(part) : null;
    case "custom":
    case "reasoning-file":
    case "source":
    case "tool-approval-request":
    case "tool-approval-response":
      return null;
  }
}

/** One spelling for a value and for its JSON text. */
function toJson(input: unknown): string {
  if (typeof input !== "string") return JSON.stringify(input) ?? "{}";
  try {
    return JSON.stringify(JSON.parse(input));
  } catch {
    return input;
  }
}

function toThinking(part: Extract<SdkPart, { type: "reasoning" }>): Block | null {
  const signature = optionIn(part, "anthropic", "signature");
  if (typeof signature === "string") return { type: "thinking", text: part.text, signature };
  const data = optionIn(part, "anthropic", "redactedData");
  return typeof data === "string" ? { type: "redacted_thinking", data } : null;
}

interface File {
  readonly data: unknown;
  readonly mediaType: string;
}

function toMedia({ data, mediaType }: File): Block {
  const source = toSource(data, mediaType);
  return mediaType.startsWith("image") ? { type: "image", source } : { type: "document", source };
}

function toSource(data: unknown, mediaType: string): MediaSource {
  if (typeof data === "string") return { kind: "base64", mediaType, data };
  if (data instanceof Uint8Array) {
    return { kind: "base64", mediaType, data: Buffer.from(data).toString("base64") };
  }
  if (data instanceof URL) return { kind: "url", url: data.href };
  if (typeof data === "object" && data !== null) {
    if ("data" in data) return toSource(data.data, mediaType);
    if ("url" in data) return { kind: "url", url: String(data.url) };
    if ("text" in data) return { kind: "text", mediaType, data: String(data.text) };
  }
  return { kind: "file", fileId: JSON.stringify(data) ?? "" };
}

type PromptResult = Extract<SdkPart, { readonly output: unknown }>;

function toResult({ toolCallId: toolUseId, output }: PromptResult): Block {
  const isError =
    output.type === "error-text" ||
    output.type === "error-json" ||
    output.type === "execution-denied";
  return { type: "tool_result", toolUseId, content: toContent(output), isError };
}

function toContent(output: PromptResult["output"]): readonly Block[] {
  switch (output.type) {
    case "text":
    case "error-text":
      return [{ type: "text", text: output.value }];
    case "json":
    case "error-json":
      return [{ type: "text", text: JSON.stringify(output.value) }];
    case "execution-denied":
      return [{ type: "text", text: output.reason ?? "The tool may not run." }];
    case "content":
      return output.value.flatMap((each): readonly Block[] => {
        if (each.type === "text") return [{ type: "text", text: each.text }];
        return each.type === "file" ? [toMedia(each)] : [];
      });
  }
}
