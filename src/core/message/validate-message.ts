// Invariants of a single message and of its record (D-01, D-02). Pairing across messages: validate-conversation.ts.
import { decodeBlock, decodeMessage } from "./decode-message.ts";
import { spellBlock } from "./encode-message.ts";
import type { Block, BlockType, JsonText, Message, MessageRecord, Role } from "./message.ts";
import { lifetimes, type Usage } from "./usage.ts";
import { violation, type Rule, type Violation } from "./violation.ts";

/** What each role may say. An opaque block is the provider's business, so it may stand anywhere but alone as a tool result. */
const allowedBlocks: Readonly<Record<Role, readonly BlockType[]>> = {
  user: ["text", "image", "document", "opaque"],
  assistant: ["text", "tool_use", "thinking", "redacted_thinking", "compaction", "opaque"],
  tool: ["tool_result"],
  system: ["text", "opaque"],
};

const allowedInToolResult: readonly BlockType[] = ["text", "image", "document", "opaque"];

export function validateMessage(message: Message, path = "message"): Violation[] {
  const { role, content } = message;
  const violations = content.flatMap((block, index) => {
    const at = `${path}.content.${index}`;
    const found = validateBlock(block, at);
    return allowedBlocks[role].includes(block.type)
      ? found
      : [
          violation(
            at,
            "block-not-allowed",
            `a ${role} message cannot hold a ${block.type} block; move it to the role it belongs to`,
          ),
          ...found,
        ];
  });
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

/** A partial message was cut off while it arrived: it is kept as it is and not judged. */
export function validateRecord(record: MessageRecord, path = "record"): Violation[] {
  const { metadata, role } = record;
  if (metadata.status === "partial") return [];
  const violations = validateMessage(record, path);
  if (!isUlid(record.id)) {
    violations.push(violation(`${path}.id`, "record-id", `"${record.id}" is not a ULID; make one`));
  }
  if (!Number.isSafeInteger(record.createdAtUs) || record.createdAtUs < 0) {
    violations.push(
      violation(`${path}.createdAtUs`, "record-time", "give whole microseconds since 1970, UTC"),
    );
  }
  const missing = role === "assistant" ? missingFromReply(record) : [];
  if (role === "tool" && metadata.parentToolUseId === undefined) missing.push("parentToolUseId");
  for (const field of missing) {
    violations.push(
      violation(
        `${path}.metadata.${field}`,
        "record-incomplete",
        `a complete ${role} message needs ${field}; set it, or mark the message partial`,
      ),
    );
  }
  if (metadata.usage !== undefined) {
    violations.push(...validateUsage(metadata.usage, `${path}.metadata.usage`));
  }
  return violations;
}

export function validateUsage(usage: Usage, path = "usage"): Violation[] {
  const counts: [string, number][] = [
    ["uncachedTokens", usage.uncachedTokens],
    ["cacheReadTokens", usage.cacheReadTokens],
    ["outputTokens", usage.outputTokens],
    ["reasoningTokens", usage.reasoningTokens],
    ...lifetimes.map((lifetime): [string, number] => [
      `cacheWriteTokens.${lifetime}`,
      usage.cacheWriteTokens[lifetime] ?? 0,
    ]),
  ];
  return counts
    .filter(([, tokens]) => !Number.isSafeInteger(tokens) || tokens < 0)
    .map(([name, tokens]) =>
      violation(
        `${path}.${name}`,
        "usage-invalid",
        `${tokens} is not a count; give a whole number from 0`,
      ),
    );
}

function validateBlock(block: Block, path: string): Violation[] {
  const violations: Violation[] = [];
  const report = (rule: Rule, message: string): void => {
    violations.push(violation(path, rule, message));
  };
  if (block.type === "text" && block.text === "") {
    report("text-empty", "providers refuse an empty text block; drop it");
  }
  if (block.type === "tool_use") {
    if (block.id === "") report("tool-use-id", "give the tool use an id of its own");
    if (!isToolName(block.name)) {
      report("tool-name", `"${block.name}" is no tool name; use 1-128 letters, digits, _ and -`);
    }
    if (!isJsonObject(block.inputJson)) {
      report("tool-input", "the input must be one JSON object; send {} for no input");
    }
  }
  if (block.type === "tool_result") {
    for (const [index, inner] of block.content.entries()) {
      const at = `${path}.content.${index}`;
      if (!allowedInToolResult.includes(inner.type)) {
        violations.push(
          violation(at, "block-not-allowed", `a tool result cannot hold a ${inner.type} block`),
        );
      }
      violations.push(...validateBlock(inner, at));
    }
  }
  if (block.type !== "opaque" && block.json !== undefined && !isSameBlock(block, block.json)) {
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

function missingFromReply({ metadata }: MessageRecord): string[] {
  return (["model", "provider", "routing", "usage"] as const).filter(
    (field) => metadata[field] === undefined,
  );
}

/** Seeds ask for snake_case; tools in the field are called `Read` and `mcp__github__search` too. */
export function isToolName(name: string): boolean {
  return /^[A-Za-z0-9_-]{1,128}$/.test(name);
}

function isUlid(id: string): boolean {
  return /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/.test(id);
}

function isJsonObject(json: JsonText): boolean {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
