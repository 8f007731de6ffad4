// Invariants across messages: who speaks first, and every tool use answered once, right after the message that used it.
import { isObject } from "./fields.ts";
import { checkShape } from "./check-shape.ts";
import { messageShape } from "./message-shapes.ts";
import type { Message, MessageRecord, ToolResultBlock } from "./message.ts";
import { validateContent, validateRecord } from "./validate-message.ts";
import { violation, type Violation } from "./violation.ts";

/** Checks the messages in order. A conversation may end with tool uses that still wait for results. */
export function validateConversation(
  messages: readonly (Message | MessageRecord)[],
  path = "messages",
): Violation[] {
  if (!Array.isArray(messages)) {
    return [violation(path, "shape", "must be a list; pass data of the documented type")];
  }
  const misshapen = messages.flatMap((message, index) =>
    checkShape(message, messageShape, `${path}.${index}`),
  );
  if (misshapen.length > 0) return misshapen;
  const violations: Violation[] = [];
  const uses = new ToolUses();
  let begun = false;
  for (const [index, message] of messages.entries()) {
    const at = `${path}.${index}`;
    const isWhole = !isPartial(message);
    if (isWhole) violations.push(...validateOne(message, at));
    if (!begun && message.role !== "system") {
      begun = true;
      if (isWhole && !mayBegin(message)) {
        violations.push(
          violation(`${at}.role`, "role-first", "a conversation begins with the user or a summary"),
        );
      }
    }
    violations.push(...uses.see(message, at, isWhole));
  }
  return [...violations, ...validateRecords(messages, path)];
}

function validateOne(message: Message | MessageRecord, path: string): Violation[] {
  return isRecord(message) ? validateRecord(message, path) : validateContent(message, path);
}

/** All records of a list belong to one session, and no id appears twice. */
function validateRecords(
  messages: readonly (Message | MessageRecord)[],
  path: string,
): Violation[] {
  const seen = new Set<string>();
  let session: string | undefined;
  return messages.flatMap((message, index) => {
    if (!isRecord(message)) return [];
    const found: Violation[] = [];
    const at = `${path}.${index}`;
    session ??= message.sessionId;
    if (message.sessionId !== session) {
      found.push(
        violation(
          `${at}.sessionId`,
          "session-mixed",
          `the others belong to ${session}; split them`,
        ),
      );
    }
    if (seen.has(message.id)) {
      found.push(violation(`${at}.id`, "record-repeated", `${message.id} is there already`));
    }
    seen.add(message.id);
    return found;
  });
}

/** The tool uses so far, and those that still wait for an answer. */
class ToolUses {
  readonly #answered = new Map<string, boolean>();
  /** The path of each one. Null for one in a message that was cut off, which needs no answer. */
  #waiting = new Map<string, string | null>();

  see(message: Message, path: string, isWhole: boolean): Violation[] {
    if (message.role === "tool") {
      return message.content.flatMap((block, index) =>
        block.type === "tool_result" ? this.#answer(block, `${path}.content.${index}`) : [],
      );
    }
    const violations = this.#closeWaiting(message.role);
    for (const [index, block] of message.content.entries()) {
      if (block.type !== "tool_use") continue;
      const at = `${path}.content.${index}`;
      if (this.#answered.has(block.id)) {
        violations.push(
          violation(at, "tool-use-repeated", `${block.id} was used before; a retry gets a new id`),
        );
      }
      this.#answered.set(block.id, false);
      this.#waiting.set(block.id, isWhole ? at : null);
    }
    return violations;
  }

  #answer({ toolUseId }: ToolResultBlock, path: string): Violation[] {
    const answered = this.#answered.get(toolUseId);
    if (answered === undefined) {
      return [
        violation(
          path,
          "tool-result-unmatched",
          `no earlier tool use is called ${toolUseId}; drop it`,
        ),
      ];
    }
    const inPlace = this.#waiting.delete(toolUseId);
    this.#answered.set(toolUseId, true);
    if (answered) {
      return [
        violation(path, "tool-result-repeated", `${toolUseId} has its result already; keep one`),
      ];
    }
    return inPlace
      ? []
      : [
          violation(
            path,
            "tool-result-misplaced",
            `the result of ${toolUseId} must come right after the message that used it; move it there`,
          ),
        ];
  }

  #closeWaiting(next: string): Violation[] {
    const left = [...this.#waiting];
    this.#waiting = new Map();
    return left.flatMap(([id, path]) =>
      path === null
        ? []
        : violation(
            path,
            "tool-use-unanswered",
            `${id} has no result before the next ${next} message; add a tool message for it`,
          ),
    );
  }
}

function isRecord(message: Message | MessageRecord): message is MessageRecord {
  return "metadata" in message && isObject(message.metadata);
}

function isPartial(message: Message | MessageRecord): boolean {
  return isRecord(message) && message.metadata.status === "partial";
}

function mayBegin(message: Message): boolean {
  return message.role === "user" || message.content[0]?.type === "compaction";
}
