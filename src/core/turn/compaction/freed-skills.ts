// Skills whose bodies a compaction hides from the model.
import type { HistoryMessage } from "../../compaction/history.ts";
import type { Activation } from "../../skills/activation.ts";

/** Skills whose body came with one of these tool results. */
export function freedSkills(
  resultsGone: ReadonlySet<string>,
  loaded: readonly Activation[],
): readonly Activation[] {
  return loaded.filter(({ toolUseId }) => resultsGone.has(toolUseId));
}

/** The tool uses that are answered in these messages. */
export function answeredIn(messages: readonly HistoryMessage[]): ReadonlySet<string> {
  const blocks = messages.flatMap(({ message }) => message.content);
  return new Set(
    blocks.flatMap((block) => (block.type === "tool_result" ? [block.toolUseId] : [])),
  );
}
