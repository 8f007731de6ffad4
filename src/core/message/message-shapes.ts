// The shapes of messages, records and usage, for untyped callers.
import type { Fields, ObjectShape } from "./check-shape.ts";

const exactText: Fields = { json: "optional text" };

const innerBlocks: Readonly<Record<string, Fields>> = {
  text: { text: "text", ...exactText },
  image: { source: "object", ...exactText },
  document: { source: "object", title: "optional text", ...exactText },
  tool_use: { id: "text", name: "text", inputJson: "text", ...exactText },
  thinking: { text: "text", signature: "optional text", ...exactText },
  redacted_thinking: { data: "text", ...exactText },
  compaction: { content: "text or null", signature: "optional text", ...exactText },
  opaque: { json: "text" },
};

const toolResult: Fields = {
  toolUseId: "text",
  content: { listOf: { byType: innerBlocks } },
  isError: "flag",
  ...exactText,
};

export const messageShape: ObjectShape = {
  role: { oneOf: ["user", "assistant", "system", "tool"] },
  content: { listOf: { byType: { ...innerBlocks, tool_result: toolResult } } },
  ...exactText,
};

export const usageShape: ObjectShape = {
  uncachedTokens: "number",
  cacheReadTokens: "number",
  cacheWriteTokens: "object",
  outputTokens: "number",
  reasoningTokens: "number",
};

export const metadataShape: ObjectShape = {
  status: { oneOf: ["complete", "partial"] },
  model: "optional text",
  provider: "optional text",
  routing: "optional text",
  usage: "optional object",
  parentToolUseId: "optional text",
  providerRaw: "optional text",
};

export const recordShape: ObjectShape = {
  id: "text",
  sessionId: "text",
  createdAtUs: "number",
  schemaVersion: { oneOf: [1] },
  metadata: "object",
};
