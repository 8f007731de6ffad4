// Invariants across messages: who speaks first, and every tool use answered once, at once (D-02).
import type { Message, MessageRecord, ToolResultBlock } from "./message.ts";
import { validateMessage } from "./validate-message.ts";
import { violation, type Violation } from "./violation.ts";

/** Checks one message after the other. A conversation may end on tool uses that still wait for results. */
export function validateConversation(
  messages: readonly (Message | MessageRecord)[],
  path = "messages",
): Violation[] {
  const violations: Violation[] = [];
  const uses = new ToolUses();
  let begun = false;
  for (const [index, message] of messages.entries()) {
    if (isPartial(message)) continue;
    const at = `${path}.${index}`;
    violations.push(...validateMessage(message, at));
    if (!begun && message.role !== "system") {
      begun = true;
      if (!mayBegin(message)) {
        violations.push(
          violation(`${at}.role`, "role-first", "a conversation begins with the user or a summary"),
        );
      }
    }
    violations.push(...uses.see(message, at));
  }
  return violations;
}

/** Which tool uses there were, and which of them still wait. */
class ToolUses {
  readonly #answered = new Map<string, boolean>();
  #waiting = new Map<string, string>();

  see(message: Message, path: string): Violation[] {
    if (message.role === "tool") {
      return message.content.flatMap((block, index) =>
        block.type === "tool_result" ? this.#answer(block, `${path}.content.${index}`) : [],
      );
    }
    const violations = message.role === "system" ? [] : this.#closeWaiting(message.role);
    for (const [index, block] of message.content.entries()) {
      if (block.type !== "tool_use") continue;
      const at = `${path}.content.${index}`;
      if (this.#answered.has(block.id)) {
        violations.push(
          violation(at, "tool-use-repeated", `${block.id} was used before; a retry gets a new id`),
        );
      }
      this.#answered.set(block.id, false);
      this.#waiting.set(block.id, at);
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
    return left.map(([id, path]) =>
      violation(
        path,
        "tool-use-unanswered",
        `${id} has no result before the next ${next} message; add a tool message for it`,
      ),
    );
  }
}

function isPartial(message: Message | MessageRecord): boolean {
  return "metadata" in message && message.metadata.status === "partial";
}

function mayBegin(message: Message): boolean {
  return message.role === "user" || message.content[0]?.type === "compaction";
}
