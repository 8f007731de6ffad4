// The skill events of a session.
import type { DraftOf, PayloadOf } from "../events/event.ts";
import type { StoredSkill } from "./skill.ts";

export type LoadedSkill = Pick<StoredSkill, "name" | "version" | "sizeTokens" | "source">;

/** One per body in the foundation. Emit them after the session is recorded and before its first turn. */
export function toPreactivationDrafts(
  sessionId: string,
  skills: readonly LoadedSkill[],
): readonly DraftOf<"skill.loaded">[] {
  return skills.map((skill) => ({
    type: "skill.loaded",
    sessionId,
    turnId: null,
    payload: toLoadedPayload(skill, null),
  }));
}

/** Null `toolUseId` means that the skill was loaded at session start. */
export function toLoadedPayload(
  { name, version, sizeTokens, source }: LoadedSkill,
  toolUseId: string | null,
): PayloadOf<"skill.loaded"> {
  return {
    skill_id: name,
    skill_version: version,
    load_reason: toolUseId === null ? "always" : "on_demand",
    load_size_tokens: sizeTokens,
    source,
    triggered_by_tool_use_id: toolUseId,
  };
}
