// Reasons not to ask a provider to compact, found before anything is sent.
import type { Message } from "../../core/message/message.ts";
import type { ModelFacts } from "../../core/models/model-facts.ts";

/** Why a model cannot compact, or not with these options; null if it can. */
export function whyNoCompaction(
  { id, route, capabilities }: Pick<ModelFacts, "id" | "route" | "capabilities">,
  obstacle: string | null,
): string | null {
  if (!capabilities.compactsOnDemand) return `${id} does not compact on demand by ${route}`;
  return obstacle;
}

/** Why providers would refuse this conversation; null if they would not. */
export function findHindrance(messages: readonly Message[]): string | null {
  if (messages.every(isCompaction)) return "there is nothing to compact";
  const waiting = waitingUses(messages);
  return waiting.length === 0
    ? null
    : `no result follows the tool uses ${waiting.join(", ")}: give it in what is pending, or cut before them`;
}

function isCompaction({ content }: Message): boolean {
  return content.length > 0 && content.every(({ type }) => type === "compaction");
}

function waitingUses(messages: readonly Message[]): readonly string[] {
  const waiting = new Set<string>();
  for (const { content } of messages.slice(lastReply(messages))) {
    for (const block of content) {
      if (block.type === "tool_use") waiting.add(block.id);
      else if (block.type === "tool_result") waiting.delete(block.toolUseId);
    }
  }
  return [...waiting];
}

/** The place of the last reply; 0 if there is none. */
function lastReply(messages: readonly Message[]): number {
  return Math.max(
    0,
    messages.findLastIndex(({ role }) => role === "assistant"),
  );
}
