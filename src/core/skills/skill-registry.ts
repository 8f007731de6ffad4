// The skill activations of a running session.
import * as activation from "./activation.ts";
import type { Skill } from "./skill.ts";

export interface SkillActivationRegistry {
  /** A value that can be stored with the session and passed to a later registry. */
  state(): activation.ActivationState;
  /** For session start. A known name stays unchanged. */
  preactivate(skills: readonly activation.SkillMark[]): void;
  /** Changes nothing: the caller may still fail before it adopts the plan. */
  plan(
    skill: Pick<Skill, "name" | "version" | "sizeTokens">,
    toolUseId: string,
  ): activation.ActivationPlan;
  /** Call it right after planning, without awaiting in between. */
  adopt(plan: activation.ActivationPlan): void;
  /**
   * A skill that a compaction removed from the history can be loaded again and no longer counts. Returns what
   * was released, for the compaction's summary.
   */
  releaseCompacted(names: readonly string[]): readonly activation.Activation[];
}

export interface RegistryOptions {
  readonly limits?: Partial<activation.ActivationLimits>;
  /** The state of a resumed session. */
  readonly state?: activation.ActivationState;
  readonly onWarning?: (text: string) => void;
}

export function createSkillRegistry(options: RegistryOptions = {}): SkillActivationRegistry {
  const limits = { ...activation.defaultActivationLimits, ...options.limits };
  let state = options.state ?? activation.noActivations;
  return {
    state: () => state,
    preactivate: (skills) => {
      state = activation.preactivate(state, skills);
    },
    plan: (skill, toolUseId) => activation.planActivation(state, skill, toolUseId, limits),
    adopt: (plan) => {
      if (plan.kind !== "load") return;
      state = plan.next;
      if (plan.warning !== null) options.onWarning?.(plan.warning);
    },
    releaseCompacted: (names) => {
      const isGone = ({ name }: activation.Activation): boolean => names.includes(name);
      const released = state.loaded.filter(isGone);
      state = { ...state, loaded: state.loaded.filter((each) => !isGone(each)) };
      return released;
    },
  };
}
