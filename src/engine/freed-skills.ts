// Skills whose bodies a fold takes out of sight.
import type { HistoryMessage } from "../core/compaction/history.ts";
import type { Activation } from "../core/skills/activation.ts";
import type { Compaction } from "./compaction.ts";

/** Changes nothing: the fold may still come to nothing. */
export function freedSkills(
  folded: readonly HistoryMessage[],
  skills: Compaction["skills"],
): readonly Activation[] {
  if (skills === undefined) return [];
  const answered = new Set(
    folded.flatMap(({ message }) =>
      message.content.flatMap((block) => (block.type === "tool_result" ? [block.toolUseId] : [])),
    ),
  );
  return skills.state().loaded.filter(({ toolUseId }) => answered.has(toolUseId));
}
