// Reads a recorded session as a growing conversation with the places where its client shortened it.
import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { parseTraceLine } from "../../harness/traces.ts";
import type { Block, Message } from "../../src/core/message/message.ts";
import { asFields, asList, asNumber, asText, type Fields } from "../tokens/trace-reader.ts";

export interface TraceStep {
  readonly model: string;
  /** How many messages of the conversation this request keeps. */
  readonly keep: number;
  readonly appended: readonly Message[];
  /** The reply, if no later request contains it. */
  readonly reply: Message | null;
}

/** Messages as in our ledger: every tool result is its own message, before the user's text. */
export async function* readTraceSteps(file: string): AsyncGenerator<TraceStep> {
  const lines = createInterface({ input: createReadStream(file, "utf8") });
  // How many of our messages each recorded message became.
  let sizes: number[] = [];
  for await (const line of lines) {
    if (line === "") continue;
    const record = asFields(parseTraceLine(line, file));
    if (record["kind"] !== "request") continue;
    const appended = asList(record["append"]).map((value) => toMessages(asFields(value)));
    sizes = sizes.slice(0, asNumber(record["keep"]));
    const keep = sizes.reduce((sum, size) => sum + size, 0);
    sizes.push(...appended.map((messages) => messages.length));
    yield {
      model: asText(record["model"]),
      keep,
      appended: appended.flat(),
      reply: toReply(record["response"]),
    };
  }
}

function toMessages(fields: Fields): Message[] {
  const content = toBlocks(fields["content"]);
  if (fields["role"] === "assistant") return [{ role: "assistant", content }];
  const results = content.filter((block) => block.type === "tool_result");
  const texts = content.filter((block) => block.type !== "tool_result");
  const answers = results.map((result): Message => ({ role: "tool", content: [result] }));
  return texts.length === 0 ? answers : [...answers, { role: "user", content: texts }];
}

function toReply(value: unknown): Message | null {
  const content = toBlocks(Array.isArray(value) ? value : asFields(value)["content"]);
  return content.length === 0 ? null : { role: "assistant", content };
}

function toBlocks(content: unknown): Block[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return asList(content).map((value) => toBlock(asFields(value)));
}

function toBlock(fields: Fields): Block {
  switch (fields["type"]) {
    case "text":
      return { type: "text", text: asText(fields["text"]) };
    case "thinking": {
      // Recordings contain only the length of a signature.
      const signature = "s".repeat(asNumber(fields["sig_chars"]));
      return { type: "thinking", text: asText(fields["thinking"]), signature };
    }
    case "redacted_thinking":
      return { type: "redacted_thinking", data: "d".repeat(asNumber(fields["data_chars"])) };
    case "tool_use": {
      const inputJson = JSON.stringify(fields["input"] ?? {});
      return {
        type: "tool_use",
        id: asText(fields["id"]),
        name: asText(fields["name"]),
        inputJson,
      };
    }
    case "tool_result": {
      const answered = {
        toolUseId: asText(fields["tool_use_id"]),
        isError: fields["is_error"] === true,
      };
      return { type: "tool_result", ...answered, content: toBlocks(fields["content"] ?? []) };
    }
    case "image":
      return { type: "image", source: { kind: "file", fileId: "unknown" } };
    case "document":
      return { type: "document", source: { kind: "file", fileId: "unknown" } };
    default:
      return { type: "opaque", json: JSON.stringify(fields) };
  }
}
