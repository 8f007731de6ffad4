// The options of the skill tools, and their events.
import type { PayloadOf } from "../../../core/events/event.ts";
import type { SkillActivationRegistry } from "../../../core/skills/skill-registry.ts";
import type { ToolCallContext } from "../../../core/tools/tool.ts";
import type { SkillStore } from "../../files/skills/skill-store.ts";

export type SkillEvent =
  | { readonly type: "skill.search"; readonly payload: PayloadOf<"skill.search"> }
  | { readonly type: "skill.loaded"; readonly payload: PayloadOf<"skill.loaded"> }
  | { readonly type: "skill.modified"; readonly payload: PayloadOf<"skill.modified"> };

export interface SkillToolOptions {
  /** Null if a session has no skills; loading then says so. */
  readonly store: SkillStore | null;
  readonly registry: SkillActivationRegistry;
  /** Adds session, turn and the tool use's parent. If it throws, the search or load did not happen. */
  readonly emit?: (event: SkillEvent, call: ToolCallContext) => void;
}
