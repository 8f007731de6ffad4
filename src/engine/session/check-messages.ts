// Checks a conversation to continue. Refuses here what a provider would refuse later.
import type { Message } from "../../core/message/message.ts";
import { validateConversation } from "../../core/message/validate-conversation.ts";
import { violation, type Rule, type Violation } from "../../core/message/violation.ts";
import { StrataError } from "../../core/strata-error.ts";

export function checkMessages(messages: readonly Message[]): void {
  const found = validateConversation(messages);
  const all = found.length > 0 ? found : waitingIn(messages);
  const violations = all.filter(({ rule }) => !mended.has(rule));
  const [first] = violations;
  if (first === undefined) return;
  const more = violations.length === 1 ? "" : `, and ${violations.length - 1} more`;
  throw new StrataError(
    "input-invalid",
    `the given messages cannot be sent: ${first.path}: ${first.message}${more}`,
    "give whole turns in their order: every tool use with its result",
  );
}

/** The encoder drops or maps these, and reports it. */
const mended: ReadonlySet<Rule> = new Set([
  "content-empty",
  "text-empty",
  "json-stale",
  "role-first",
]);

/** Open tool uses at the end. No tool will run for them, and the next message would take the place of their results. */
function waitingIn(messages: readonly Message[]): readonly Violation[] {
  const last = messages.at(-1);
  if (last?.role !== "assistant" || !last.content.some(({ type }) => type === "tool_use"))
    return [];
  const path = `messages.${messages.length - 1}`;
  return [violation(path, "tool-use-unanswered", "its tool uses have no results")];
}
