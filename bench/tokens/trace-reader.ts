// Reads ctx-trace/1 sessions request by request as canonical messages.
import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { parseTraceLine } from "../../harness/traces.ts";
import type { Block, Message } from "../../src/core/message/message.ts";
import type { Usage } from "../../src/core/message/usage.ts";

export interface TraceRequest {
  /** The program that made the session. */
  readonly agent: string;
  readonly model: string;
  /** How many messages of the previous request are kept; the appended ones follow. */
  readonly keep: number;
  readonly appended: readonly Message[];
  /** System text and tool definitions, where they differ from the previous request. Null where they do not, or are unknown. */
  readonly overhead: { readonly system: string; readonly tools: readonly string[] } | null;
  /** Null if the trace has none. */
  readonly usage: Usage | null;
}

export async function* readSession(file: string): AsyncGenerator<TraceRequest> {
  const lines = createInterface({ input: createReadStream(file, "utf8") });
  let agent = "";
  for await (const line of lines) {
    if (line === "") continue;
    const record = asFields(parseTraceLine(line, file));
    if (record["kind"] === "session") agent = asText(record["agent"]);
    if (record["kind"] === "request") yield toRequest(record, agent);
  }
}

export type Fields = Readonly<Record<string, unknown>>;

function toRequest(record: Fields, agent: string): TraceRequest {
  return {
    agent,
    model: asText(record["model"]),
    keep: asNumber(record["keep"]),
    appended: asList(record["append"]).map(toMessage),
    overhead: toOverhead(record),
    usage: toUsage(record["usage"]),
  };
}

function toOverhead({ system, tools }: Fields): TraceRequest["overhead"] {
  if (system === undefined && tools === undefined) return null;
  const blocks = typeof system === "string" ? [{ text: system }] : asList(system).map(asFields);
  return {
    system: blocks.map(({ text }) => asText(text)).join("\n"),
    tools: asList(tools).map((tool) => JSON.stringify(tool)),
  };
}

/** Null also if the whole prompt is zero. */
function toUsage(value: unknown): Usage | null {
  const fields = asFields(value);
  const output = asNumber(fields["output_tokens"]);
  const usage = {
    uncachedTokens: asNumber(fields["input_tokens"]),
    cacheReadTokens: asNumber(fields["cache_read_input_tokens"]),
    cacheWriteTokens: { "5m": asNumber(fields["cache_creation_input_tokens"]) },
    // Traces count reasoning as part of the output.
    outputTokens: output - Math.min(output, asNumber(fields["reasoning_output_tokens"])),
    reasoningTokens: Math.min(output, asNumber(fields["reasoning_output_tokens"])),
  };
  const prompt = usage.uncachedTokens + usage.cacheReadTokens + usage.cacheWriteTokens["5m"];
  return prompt > 0 ? usage : null;
}

function toMessage(value: unknown): Message {
  const fields = asFields(value);
  return {
    role: fields["role"] === "assistant" ? "assistant" : "user",
    content: toBlocks(fields["content"]),
  };
}

function toBlocks(content: unknown): Block[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return asList(content).map((value) => toBlock(asFields(value)));
}

function toBlock(fields: Fields): Block {
  switch (fields["type"]) {
    case "text":
      return { type: "text", text: asText(fields["text"]) };
    case "thinking":
      return {
        type: "thinking",
        text: asText(fields["thinking"]),
        // Traces contain only the length of a signature.
        signature: "s".repeat(asNumber(fields["sig_chars"])),
      };
    case "redacted_thinking":
      return { type: "redacted_thinking", data: "d".repeat(asNumber(fields["data_chars"])) };
    case "tool_use":
      return {
        type: "tool_use",
        id: asText(fields["id"]),
        name: asText(fields["name"]),
        inputJson: JSON.stringify(fields["input"] ?? {}),
      };
    case "tool_result":
      return {
        type: "tool_result",
        toolUseId: asText(fields["tool_use_id"]),
        content: toBlocks(fields["content"] ?? []),
        isError: fields["is_error"] === true,
      };
    case "image":
      return { type: "image", source: imageSource(fields["w"], fields["h"]) };
    case "document":
      return { type: "document", source: { kind: "file", fileId: "unknown" } };
    default:
      return { type: "opaque", json: JSON.stringify(fields) };
  }
}

type MediaSource = Extract<Block, { type: "image" }>["source"];

/** A PNG header with the recorded size; the trace has no image data. */
function imageSource(width: unknown, height: unknown): MediaSource {
  if (typeof width !== "number" || typeof height !== "number") {
    return { kind: "file", fileId: "unknown" };
  }
  const header = Buffer.alloc(24);
  header.writeUInt32BE(0x89504e47, 0);
  header.writeUInt32BE(width, 16);
  header.writeUInt32BE(height, 20);
  return { kind: "base64", mediaType: "image/png", data: header.toString("base64") };
}

export function asFields(value: unknown): Fields {
  return typeof value === "object" && value !== null ? { ...value } : {};
}

export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function asText(value: unknown): string {
  return typeof value === "string" ? value : "";
}

export function asNumber(value: unknown): number {
  return typeof value === "number" ? value : 0;
}
