// Invariants of a single message and of its record. Pairing across messages: validate-conversation.ts.
import { isObject } from "./fields.ts";
import { checkShape } from "./check-shape.ts";
import { decodeBlock, decodeMessage } from "./decode-message.ts";
import { spellBlock } from "./encode-message.ts";
import type { Block, BlockType, JsonText, Message, MessageRecord, Role } from "./message.ts";
import { messageShape, metadataShape, recordShape, usageShape } from "./message-shapes.ts";
import { lifetimes, type Usage } from "./usage.ts";
import { violation, type Rule, type Violation } from "./violation.ts";

/**
 * The blocks each role may contain. Opaque blocks belong to the provider, so they may stand anywhere,
 * but a tool message holds only tool results.
 */
const allowedBlocks: Readonly<Record<Role | "tool result", readonly BlockType[]>> = {
  user: ["text", "image", "document", "opaque"],
  assistant: ["text", "tool_use", "thinking", "redacted_thinking", "compaction", "opaque"],
  tool: ["tool_result"],
  system: ["text", "opaque"],
  "tool result": ["text", "image", "document", "opaque"],
};

export function validateMessage(message: Message, path = "message"): Violation[] {
  const misshapen = checkShape(message, messageShape, path);
  return misshapen.length > 0 ? misshapen : validateContent(message, path);
}

/** Like validateMessage, for a message whose shape was already checked. */
export function validateContent(message: Message, path: string): Violation[] {
  const { role, content } = message;
  const violations = content.flatMap((block, index) =>
    validateBlock(block, `${path}.content.${index}`, role),
  );
  if (content.length === 0 && role !== "system") {
    violations.unshift(
      violation(`${path}.content`, "content-empty", `a ${role} message needs content; drop it`),
    );
  }
  if (role === "tool" && content.length > 1) {
    violations.unshift(
      violation(
        `${path}.content`,
        "tool-result-single",
        "a tool message holds exactly one tool_result; send one message per result",
      ),
    );
  }
  if (message.json !== undefined && !isSameMessage(message, message.json)) {
    violations.push(
      violation(path, "json-stale", "json says something else; drop it after an edit"),
    );
  }
  return violations;
}

/** A partial message was cut off while it arrived. It is kept and not validated. */
export function validateRecord(record: MessageRecord, path = "record"): Violation[] {
  const misshapen = checkShape(record, recordShape, path);
  if (misshapen.length === 0) {
    misshapen.push(...checkShape(record.metadata, metadataShape, `${path}.metadata`));
  }
  if (misshapen.length > 0) return misshapen;
  const { metadata, role } = record;
  if (metadata.status === "partial") return [];
  const violations = validateMessage(record, path);
  const report = (field: string, rule: Rule, message: string): void => {
    violations.push(violation(`${path}.${field}`, rule, message));
  };
  if (!isUlid(record.id)) report("id", "record-id", `"${record.id}" is not a ULID; make one`);
  if (record.sessionId === "") report("sessionId", "record-id", "name the session");
  if (!Number.isSafeInteger(record.createdAtUs) || record.createdAtUs < 0) {
    report("createdAtUs", "record-time", "give whole microseconds since 1970, UTC");
  }
  for (const field of missingMetadata(record)) {
    report(
      `metadata.${field}`,
      "record-incomplete",
      `a complete ${role} message needs ${field}; set it, or mark the message partial`,
    );
  }
  const answers = record.content.find((block) => block.type === "tool_result");
  const { parentToolUseId, usage } = metadata;
  if (answers && parentToolUseId !== undefined && parentToolUseId !== answers.toolUseId) {
    report(
      "metadata.parentToolUseId",
      "tool-result-id",
      `the block answers ${answers.toolUseId}; name that one`,
    );
  }
  if (usage !== undefined) violations.push(...validateUsage(usage, `${path}.metadata.usage`));
  return violations;
}

export function validateUsage(usage: Usage, path = "usage"): Violation[] {
  const misshapen = checkShape(usage, usageShape, path);
  if (misshapen.length > 0) return misshapen;
  const { cacheWriteTokens, ...buckets } = usage;
  const writes = Object.entries(cacheWriteTokens);
  const unknown = writes.filter(([lifetime]) => !lifetimes.some((known) => known === lifetime));
  const counts = [
    ...Object.entries(buckets),
    ...writes.map(([lifetime, tokens]) => [`cacheWriteTokens.${lifetime}`, tokens] as const),
  ];
  return [
    ...counts
      .filter(([, tokens]) => !Number.isSafeInteger(tokens) || tokens < 0)
      .map(([name, tokens]) =>
        violation(
          `${path}.${name}`,
          "usage-invalid",
          `${tokens} is not a count; give a whole number from 0`,
        ),
      ),
    ...unknown.map(([lifetime]) =>
      violation(
        `${path}.cacheWriteTokens.${lifetime}`,
        "usage-invalid",
        `there is no such lifetime; use ${lifetimes.join(", ")}`,
      ),
    ),
  ];
}

function validateBlock(block: Block, path: string, place: Role | "tool result"): Violation[] {
  const violations: Violation[] = [];
  const report = (rule: Rule, message: string): void => {
    violations.push(violation(path, rule, message));
  };
  if (!allowedBlocks[place].includes(block.type)) {
    const holder = place === "tool result" ? "tool result" : `${place} message`;
    report(
      "block-not-allowed",
      `a ${holder} cannot hold a ${block.type} block; move it to the role it belongs to`,
    );
  }
  switch (block.type) {
    case "text":
      if (block.text.trim() === "") {
        report("text-empty", "providers refuse a text block without text; drop it");
      }
      break;
    case "tool_use":
      if (block.id === "") report("tool-use-id", "give the tool use an id of its own");
      if (!isToolName(block.name)) {
        report("tool-name", `"${block.name}" is no tool name; use 1-128 letters, digits, _ and -`);
      }
      if (!isJsonObject(block.inputJson)) {
        report("tool-input", "the input must be one JSON object; send {} for no input");
      }
      break;
    case "tool_result":
      if (block.toolUseId === "") report("tool-result-id", "name the tool use it answers");
      for (const [index, inner] of block.content.entries()) {
        violations.push(...validateBlock(inner, `${path}.content.${index}`, "tool result"));
      }
      break;
    case "opaque":
      if (!isJsonObject(block.json)) report("json-invalid", "must be exactly one JSON object");
      return violations;
    case "image":
    case "document":
    case "thinking":
    case "redacted_thinking":
    case "compaction":
  }
  if (block.json !== undefined && !isSameBlock(block, block.json)) {
    report("json-stale", "json says something else; drop it after an edit");
  }
  return violations;
}

function isSameBlock(block: Block, json: JsonText): boolean {
  try {
    return spellBlock(decodeBlock(json)) === spellBlock(block);
  } catch {
    return false;
  }
}

function isSameMessage(message: Message, json: JsonText): boolean {
  try {
    const { role, content } = decodeMessage(json);
    return (
      role === message.role &&
      content.map(spellBlock).join() === message.content.map(spellBlock).join()
    );
  } catch {
    return false;
  }
}

function missingMetadata({ metadata, role }: MessageRecord): string[] {
  if (role === "tool") return metadata.parentToolUseId === undefined ? ["parentToolUseId"] : [];
  if (role !== "assistant") return [];
  return (["model", "provider", "routing", "usage"] as const).filter(
    (field) => metadata[field] === undefined,
  );
}

/** Names that stored and foreign messages may have: the widest rule of a provider. Our own tools have a narrower one. */
export function isToolName(name: string): boolean {
  return /^[A-Za-z0-9_-]{1,128}$/.test(name);
}

/** 26 base-32 digits; the first ten are the time. */
export function isUlid(id: string): boolean {
  return /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/.test(id);
}

/** Whether the text is one JSON object that UTF-8 can carry. */
function isJsonObject(json: JsonText): boolean {
  try {
    return json.isWellFormed() && isObject(JSON.parse(json));
  } catch {
    return false;
  }
}
