// A provider's signed summary where it cannot stand as such: its words in the user's name, as any other summary.
import type { CompactionBlock, Message } from "../../message/message.ts";
import type { LeftOut } from "../../assembly/spelling.ts";

export interface PlainSummary {
  /** The summary, and behind it what else the message said. */
  readonly messages: readonly Message[];
  readonly leftOut: readonly LeftOut[];
}

/** A signed summary that a message begins with; undefined where there is none. */
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
