// Repairs kept messages after a compaction, for models that bind thinking to everything before it.
import type { Message } from "../../message/message.ts";
import { withoutThinking } from "../../message/without-thinking.ts";
import type { ModelFacts } from "../../models/model-facts.ts";

export interface ValidMessages {
  readonly messages: readonly Message[];
  /** Whether a byte changed. The compaction then stores the messages again. */
  readonly changed: boolean;
  readonly thinkingRemoved: number;
}

/**
 * A compaction changes the text before every kept thinking block, so all of them are removed, and messages left
 * empty too.
 */
export function makeValid(
  messages: readonly Message[],
  { capabilities }: Pick<ModelFacts, "capabilities">,
): ValidMessages {
  if (!capabilities.thinkingBoundToPrefix) return { messages, changed: false, thinkingRemoved: 0 };
  let thinkingRemoved = 0;
  const valid = messages.flatMap((message) => {
    const left = withoutThinking(message);
    thinkingRemoved += message.content.length - left.content.length;
    return left === message || left.content.length > 0 ? [left] : [];
  });
  return thinkingRemoved === 0
    ? { messages, changed: false, thinkingRemoved }
    : { messages: valid, changed: true, thinkingRemoved };
}
