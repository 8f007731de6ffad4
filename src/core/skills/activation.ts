// Which skills a session has loaded, and whether one more fits its budget. Pure values.
import type { Skill, SkillVersion } from "./skill.ts";

/** Limits for explicit loads. Skills in the prompt from the start do not count. */
export interface ActivationLimits {
  /** Distinct skills per session. */
  readonly skillsMax: number;
  /** A sum above this warns once per session. */
  readonly tokensAdvised: number;
  readonly tokensMax: number;
}

export const defaultActivationLimits: ActivationLimits = {
  skillsMax: 3,
  tokensAdvised: 10_000,
  tokensMax: 30_000,
};

export interface ActivationState {
  /** Skills whose whole body is in the foundation. */
  readonly preactivated: readonly SkillMark[];
  /** In load order. Their bodies are in the history. */
  readonly loaded: readonly Activation[];
  readonly hasWarned: boolean;
}

export interface SkillMark {
  readonly name: string;
  readonly version: SkillVersion;
}

export interface Activation extends SkillMark {
  readonly sizeTokens: number;
  /** The tool use whose result holds the body. */
  readonly toolUseId: string;
}

export const noActivations: ActivationState = { preactivated: [], loaded: [], hasWarned: false };

export type ActivationPlan =
  | { readonly kind: "preactivated" }
  | { readonly kind: "loaded before"; readonly earlier: Activation }
  | { readonly kind: "refused"; readonly reason: string }
  | {
      readonly kind: "load";
      /** The state after the body was delivered. */
      readonly next: ActivationState;
      /** For people, not for the model. */
      readonly warning: string | null;
    };

type LoadedSkill = Pick<Skill, "name" | "version" | "sizeTokens">;

/** A body that changed since, as after resuming a session, counts as another one and is loaded again. */
export function planActivation(
  state: ActivationState,
  skill: LoadedSkill,
  toolUseId: string,
  limits: ActivationLimits = defaultActivationLimits,
): ActivationPlan {
  const { name, version, sizeTokens } = skill;
  const isSame = (mark: SkillMark): boolean => mark.name === name && mark.version === version;
  if (state.preactivated.some(isSame)) return { kind: "preactivated" };
  const earlier = state.loaded.find(isSame);
  if (earlier !== undefined) return { kind: "loaded before", earlier };
  const loaded = [...state.loaded, { name, version, sizeTokens, toolUseId }];
  const reason = refusal(state, loaded, skill, limits);
  if (reason !== null) return { kind: "refused", reason };
  const tokens = sumTokens(loaded);
  const isOver = tokens > limits.tokensAdvised;
  const warning =
    isOver && !state.hasWarned
      ? `loaded skills take about ${tokens} tokens of the history, more than ${limits.tokensAdvised}; at ${limits.tokensMax} no more are loaded`
      : null;
  const hasWarned = state.hasWarned || isOver;
  return { kind: "load", next: { ...state, loaded, hasWarned }, warning };
}

export function preactivate(state: ActivationState, skills: readonly SkillMark[]): ActivationState {
  const isNew = (skill: SkillMark, index: number): boolean =>
    ![...state.preactivated, ...skills.slice(0, index)].some(({ name }) => name === skill.name);
  const added = skills.filter(isNew).map(({ name, version }) => ({ name, version }));
  return added.length === 0 ? state : { ...state, preactivated: [...state.preactivated, ...added] };
}

function refusal(
  { loaded: before }: ActivationState,
  loaded: readonly Activation[],
  { name, sizeTokens }: LoadedSkill,
  { skillsMax, tokensMax }: ActivationLimits,
): string | null {
  const names = namesOf(before);
  const listed = names.length === 0 ? "none so far" : names.join(", ");
  const count = namesOf(loaded).length;
  if (count > skillsMax) {
    return (
      `skill ${name} was not loaded: a session loads at most ${skillsMax} skills, and it would be number ${count}. ` +
      `Loaded, in this order: ${listed}. ${recovery}`
    );
  }
  const tokens = sumTokens(loaded);
  if (tokens <= tokensMax) return null;
  return (
    `skill ${name} was not loaded: with its ${sizeTokens} tokens loaded skills would take ${tokens}, at most ${tokensMax}. ` +
    `Loaded, in this order: ${listed}. ${recovery}`
  );
}

const recovery =
  "Go on with what is loaded, read only the part you need from the skill's files, " +
  "or ask the user for a new session or for compaction, which frees what it hides.";

function namesOf(loaded: readonly Activation[]): readonly string[] {
  return [...new Set(loaded.map(({ name }) => name))];
}

function sumTokens(loaded: readonly Activation[]): number {
  return loaded.reduce((sum, { sizeTokens }) => sum + sizeTokens, 0);
}
