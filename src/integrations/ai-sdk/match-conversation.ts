// Which conversation a prompt belongs to: one that it goes on with, or the nearest one, whose prompt it changed.
import type { ListView } from "../../core/growing/growing-list.ts";
import { encodeMessage } from "../../core/message/encode-message.ts";
import type { Message } from "../../core/message/message.ts";
import type { Foundation } from "../../core/assembly/foundation.ts";
import type { ModelFacts } from "../../core/models/model-facts.ts";
import { sessionOf, type Conversation } from "./conversation.ts";

/** Whether a prompt has the whole known history, followed by something that is not a reply. */
export function isAfter(
  conversation: Conversation,
  messages: readonly Message[],
  { key }: Foundation,
  { id, route }: ModelFacts,
): boolean {
  const { thread, model } = sessionOf(conversation);
  if (model.id !== id || model.route !== route) return false;
  const count = thread.messages.length;
  if (thread.foundation.key !== key || messages.length <= count) return false;
  const current = messages.slice(count);
  if (current.some(({ role }) => role === "assistant")) return false;
  const again = toRepeat(conversation);
  if (again !== null && (again.length !== current.length || !beginsWith(current, again))) {
    return false;
  }
  return beginsWith(messages, thread.messages);
}

/**
 * The conversation that a prompt goes on with in another form: other tools, other system text, a rewritten history or
 * another model. Its last reply stands in the prompt, or else both begin with the same message. The latest one wins.
 * Null for a prompt without a reply: it begins a conversation. Reads the prompt once, and no known history.
 */
export function findNearest(
  known: readonly Conversation[],
  messages: readonly Message[],
): Conversation | null {
  const replies = messages.filter(({ role }) => role === "assistant").map(gistOf);
  const [first] = messages;
  if (replies.length === 0 || first === undefined) return null;
  const said = new Set(replies);
  const called = known.filter((each) => sessionOf(each).lastCall !== null);
  const holder = called.findLast((each) => {
    const reply = lastReplyOf(each);
    return reply !== null && said.has(gistOf(reply));
  });
  const alike = (each: Conversation): boolean => {
    const begun = sessionOf(each).thread.messages.at(0);
    return begun !== undefined && isSame(begun, first);
  };
  return holder ?? called.findLast(alike) ?? null;
}

/** Null if its last call brought none. */
function lastReplyOf(conversation: Conversation): Message | null {
  const { messages } = sessionOf(conversation).thread;
  const last = messages.at(messages.length - 1);
  return last?.role === "assistant" ? last : null;
}

/** If its last call failed in the middle of a turn, the next call must repeat these messages; else null. */
function toRepeat({ turn }: Conversation): readonly Message[] | null {
  if (turn === null || turn.turn.calls.at(-1)?.status === "complete") return null;
  return turn.turn.current;
}

/** Compares from the end: conversations that begin alike differ there. */
function beginsWith(messages: readonly Message[], known: ListView<Message>): boolean {
  for (let index = known.length - 1; index >= 0; index -= 1) {
    const one = known.at(index);
    const other = messages[index];
    if (one === undefined || other === undefined || !isSame(one, other)) return false;
  }
  return true;
}

/** The SDK drops some fields of a reply, so only text and tool uses are compared. */
function isSame(one: Message, other: Message): boolean {
  if (one.role !== other.role) return false;
  if (one.role !== "assistant") return encodeMessage(one) === encodeMessage(other);
  return gistOf(one) === gistOf(other);
}

function gistOf({ content }: Message): string {
  const texts = content.flatMap((block) => (block.type === "text" ? [block.text] : []));
  const uses = content.flatMap((block) => (block.type === "tool_use" ? [block.id] : []));
  return JSON.stringify([texts.join(""), uses]);
}
