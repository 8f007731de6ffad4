// Skills whose bodies a fold takes out of sight.
import type { HistoryMessage } from "../../compaction/history.ts";
import type { Activation } from "../../skills/activation.ts";
import type { Compaction } from "../../../engine/compaction/compaction.ts";

/** Those whose body came with one of these results. Changes nothing: the fold may still come to nothing. */
export function freedSkills(
  resultsGone: ReadonlySet<string>,
  skills: Compaction["skills"],
): readonly Activation[] {
  return skills?.state().loaded.filter(({ toolUseId }) => resultsGone.has(toolUseId)) ?? [];
}

/** The tool uses that are answered in these messages. */
export function answeredIn(messages: readonly HistoryMessage[]): ReadonlySet<string> {
  const blocks = messages.flatMap(({ message }) => message.content);
  return new Set(
    blocks.flatMap((block) => (block.type === "tool_result" ? [block.toolUseId] : [])),
  );
}
