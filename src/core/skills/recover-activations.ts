// Recovers a session's loaded skills from its messages, after a move to another process or a compaction.
import type { Message } from "../message/message.ts";
import * as activation from "./activation.ts";
import { readLoadedText } from "./skill-texts.ts";
import { sizeTokensOf, versionOf } from "./skill.ts";

export const skillLoadName = "skill_load";

/** A body that a compaction removed is not found, so it can be loaded again. */
export function recoverActivations(
  messages: Iterable<Message>,
  preactivated: readonly activation.SkillMark[] = [],
): activation.ActivationState {
  const uses = new Set<string>();
  const loaded: activation.Activation[] = [];
  for (const { content } of messages) {
    for (const block of content) {
      if (block.type === "tool_use" && block.name === skillLoadName) uses.add(block.id);
      if (block.type !== "tool_result" || block.isError || !uses.has(block.toolUseId)) continue;
      const [first] = block.content;
      const text = first?.type === "text" ? readLoadedText(first.text) : null;
      if (text === null) continue;
      const { name, version, body } = text;
      // A body that was cut on its way does not count.
      if (versionOf(body) !== version) continue;
      const isNew = !loaded.some((each) => each.name === name && each.version === version);
      const sizeTokens = sizeTokensOf(body);
      if (isNew) loaded.push({ name, version, sizeTokens, toolUseId: block.toolUseId });
    }
  }
  return activation.preactivate({ ...activation.noActivations, loaded }, preactivated);
}
