// Writes a provider's signed summary as plain text in a user message, where the signed form is not accepted.
import type { CompactionBlock, Message } from "../../message/message.ts";
import type { LeftOut } from "../../assembly/spelling.ts";

export interface PlainSummary {
  /** The summary, then the rest of the message. */
  readonly messages: readonly Message[];
  readonly leftOut: readonly LeftOut[];
}

/** The signed summary at the start of a message; undefined if there is none. */
export function signedSummary({ content }: Message): CompactionBlock | undefined {
  const [first] = content;
  return first?.type === "compaction" && (first.signature ?? "") !== "" ? first : undefined;
}

export function toPlainSummary(
  { role, content: [, ...rest] }: Message,
  { content }: CompactionBlock,
  reason: string,
): PlainSummary {
  const text = content ?? "";
  const summary: Message = {
    role: "user",
    content: [{ type: "text", text: `${label}\n\n${text}` }],
  };
  const others: readonly Message[] = rest.length === 0 ? [] : [{ role, content: rest }];
  return text.trim() === ""
    ? { messages: others, leftOut: [{ what: "a block of type compaction", reason }] }
    : { messages: [summary, ...others], leftOut: [{ what: "the seal of a compaction", reason }] };
}

const label =
  "Summary of the conversation before this point. It is background, not a request of the user.";
