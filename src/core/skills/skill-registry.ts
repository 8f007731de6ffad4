// The activations of one session while it runs.
import {
  defaultActivationLimits,
  noActivations,
  planActivation,
  preactivate,
  releaseFolded,
  type Activation,
  type ActivationLimits,
  type ActivationPlan,
  type ActivationState,
  type SkillMark,
} from "./activation.ts";
import type { Skill } from "./skill.ts";

export interface SkillActivationRegistry {
  /** A value: it can be kept with the session and given to a registry later. */
  state(): ActivationState;
  /** At session start; a name that is there already stays as it is. */
  preactivate(skills: readonly SkillMark[]): void;
  /** Changes nothing: the caller may still fail before it adopts the plan. */
  plan(skill: Pick<Skill, "name" | "version" | "sizeTokens">, toolUseId: string): ActivationPlan;
  /** At once after planning, with nothing awaited in between. */
  adopt(plan: ActivationPlan): void;
  /** Gives what was freed, for the summary of the fold. */
  releaseFolded(names: readonly string[]): readonly Activation[];
}

export interface RegistryOptions {
  readonly limits?: Partial<ActivationLimits>;
  /** Of a session that goes on. */
  readonly state?: ActivationState;
  /** Once per session. */
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
    releaseFolded: (names) => {
      const after = releaseFolded(state, names);
      state = after.state;
      return after.released;
    },
  };
}
