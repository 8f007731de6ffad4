// The skill activations of a running session.
import {
  defaultActivationLimits,
  noActivations,
  planActivation,
  preactivate,
  type Activation,
  type ActivationLimits,
  type ActivationPlan,
  type ActivationState,
  type SkillMark,
} from "./activation.ts";
import type { Skill } from "./skill.ts";

export interface SkillActivationRegistry {
  /** A value that can be stored with the session and passed to a later registry. */
  state(): ActivationState;
  /** For session start. A known name stays unchanged. */
  preactivate(skills: readonly SkillMark[]): void;
  /** Changes nothing: the caller may still fail before it adopts the plan. */
  plan(skill: Pick<Skill, "name" | "version" | "sizeTokens">, toolUseId: string): ActivationPlan;
  /** Call it right after planning, without awaiting in between. */
  adopt(plan: ActivationPlan): void;
  /**
   * A skill that a compaction removed from the history can be loaded again and no longer counts. Returns what
   * was released, for the compaction's summary.
   */
  releaseCompacted(names: readonly string[]): readonly Activation[];
}

export interface RegistryOptions {
  readonly limits?: Partial<ActivationLimits>;
  /** The state of a resumed session. */
  readonly state?: ActivationState;
  readonly onWarning?: (text: string) => void;
}

export function createSkillRegistry(options: RegistryOptions = {}): SkillActivationRegistry {
  const limits = { ...defaultActivationLimits, ...options.limits };
  let state = options.state ?? noActivations;
  return {
    state: () => state,
    preactivate: (skills) => {
      state = preactivate(state, skills);
    },
    plan: (skill, toolUseId) => planActivation(state, skill, toolUseId, limits),
    adopt: (plan) => {
      if (plan.kind !== "load") return;
      state = plan.next;
      if (plan.warning !== null) options.onWarning?.(plan.warning);
    },
    releaseCompacted: (names) => {
      const isGone = ({ name }: Activation): boolean => names.includes(name);
      const released = state.loaded.filter(isGone);
      state = { ...state, loaded: state.loaded.filter((each) => !isGone(each)) };
      return released;
    },
  };
}
