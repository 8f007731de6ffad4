// Kept messages after a fold, on models that bind their thinking to everything before it.
import type { Block, Message } from "../../message/message.ts";
import type { ModelFacts } from "../../models/model-facts.ts";

export interface ValidMessages {
  readonly messages: readonly Message[];
  /** Whether a byte differs; then the messages are written anew, with the fold. */
  readonly changed: boolean;
  readonly thinkingRemoved: number;
}

/**
 * A fold changes what stood before every kept thinking block, so there all of them go, also those we
 * cannot read. A message that was nothing else goes with them.
 */
export function makeValid(
  messages: readonly Message[],
  { capabilities }: Pick<ModelFacts, "capabilities">,
): ValidMessages {
  if (!capabilities.thinkingBoundToPrefix) return { messages, changed: false, thinkingRemoved: 0 };
  let thinkingRemoved = 0;
  const valid = messages.flatMap((message) => {
    const content = message.content.filter((block) => !isThinking(block));
    if (content.length === message.content.length) return [message];
    thinkingRemoved += message.content.length - content.length;
    // The exact text the message came as still has the thinking in it.
    return content.length === 0 ? [] : [{ role: message.role, content }];
  });
  return thinkingRemoved === 0
    ? { messages, changed: false, thinkingRemoved }
    : { messages: valid, changed: true, thinkingRemoved };
}

function isThinking(block: Block): boolean {
  if (block.type !== "opaque") {
    return block.type === "thinking" || block.type === "redacted_thinking";
  }
  return /thinking|^reasoning$/.test(typeOf(block.json));
}

/** As the provider names it; empty where it cannot be told. */
function typeOf(json: string): string {
  try {
    const value: unknown = JSON.parse(json);
    const type = typeof value === "object" && value !== null && "type" in value ? value.type : null;
    return typeof type === "string" ? type : "";
  } catch {
    return "";
  }
}
