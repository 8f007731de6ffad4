// What happens in one course, as a function of a seed: what the model says to which call, what tools give, how
// compactions go, who says or stops something when, and when processes die. The same at the same place, however often
// a course comes there.
import { stageNames, type StageName } from "./stages.ts";

/** Where a course can be: a step of a turn, or one of the compaction within it. */
export const stepNames = [
  "refresh",
  "prepare",
  "record",
  "count",
  "compact",
  "compaction: read history",
  "compaction: lock",
  "compaction: ask provider",
  "compaction: summarise",
  "compaction: renew foundation",
  "compaction: commit",
  "send",
  "record reply",
  "run tools",
  "switch model",
  "close",
] as const;

export type StepName = (typeof stepNames)[number];

/** The call of the turn that is made or comes next, from 1. */
export interface Place {
  readonly turn: number;
  readonly call: number;
}

/** Something that comes from outside while a turn runs. */
export interface Interruption extends Place {
  readonly what: "say" | "abort";
  readonly step: StepName;
}

export interface Course {
  readonly seed: number;
  readonly stage: StageName;
  readonly turnCount: number;
  readonly callsMax: number;
  /** How much time a call takes; one that is refused takes none. */
  readonly tickMs: number;
  readonly canCount: boolean;
  /**
   * Whether the provider counts otherwise than we do. Not where processes die: after an overflow, a compaction takes the
   * count it has, and that of a resumed turn an estimate.
   */
  readonly countsOtherwise: boolean;
  /** Whether memory goes with every call. */
  readonly hasMemory: boolean;
  readonly isProactive: boolean;
  readonly mayUseProvider: boolean;
  /** Whether the model asks for tools for ever, and the limit of calls ends the turn. */
  readonly isEndless: boolean;
  /** Whether the provider finds most prompts too long. */
  readonly isCrowded: boolean;
  /** Whether other models go on when a provider fails. */
  readonly fallsBack: boolean;
  readonly interruptions: readonly Interruption[];
  /** How many places it passes until its process dies, and the next one's after that. */
  readonly kills: readonly number[];
}

export function toCourse(seed: number): Course {
  const random = (...what: readonly number[]): number => chance(seed, 1, ...what);
  const isKilled = random(0) < 0.6;
  return {
    seed,
    stage: choose(random(1), stageNames),
    turnCount: random(2) < 0.3 ? 2 : 1,
    callsMax: random(3) < 0.3 ? 1 + Math.floor(random(4) * 4) : 12,
    // Shorter than after which the time is said again, or longer.
    tickMs: random(5) < 0.7 ? 1_000 : 70_000,
    canCount: random(6) < 0.4,
    countsOtherwise: !isKilled,
    hasMemory: random(7) < 0.2,
    isProactive: random(8) < 0.5,
    mayUseProvider: random(9) < 0.35,
    isEndless: random(10) < 0.03,
    isCrowded: random(11) < 0.12,
    fallsBack: random(12) < 0.5,
    interruptions: toInterruptions(seed, isKilled),
    kills: isKilled ? toKills(seed) : [],
  };
}

function toInterruptions(seed: number, isKilled: boolean): readonly Interruption[] {
  const random = (...what: readonly number[]): number => chance(seed, 2, ...what);
  const count = random(0) < 0.5 ? 0 : 1 + Math.floor(random(1) * 3);
  const toPlace = (at: number): Place => ({
    turn: 1 + Math.floor(random(2, at) * 2 * random(3, at)),
    call: 1 + Math.floor(random(4, at) * 4),
  });
  const words = Array.from({ length: count }, (_, at): Interruption => ({
    ...toPlace(at),
    what: "say",
    step: choose(random(5, at), sayPlaces),
  }));
  if (random(6) > 0.15) return words;
  const places = isKilled ? steadyPlaces : [...sayPlaces, ...steadyPlaces];
  return [...words, { ...toPlace(9), what: "abort", step: choose(random(7), places) }];
}

const sayPlaces: readonly StepName[] = [
  "refresh",
  "prepare",
  "record",
  "count",
  "compact",
  "send",
  "record reply",
  "run tools",
  "switch model",
  "close",
];

/** Those that a resumed turn comes to in the same order as one that was not interrupted. */
const steadyPlaces: readonly StepName[] = [
  "compact",
  "compaction: summarise",
  "compaction: renew foundation",
  "compaction: commit",
  "send",
  "record reply",
  "run tools",
  "switch model",
];

function toKills(seed: number): readonly number[] {
  const count = 1 + Math.floor(chance(seed, 3, 0) * 4);
  return Array.from({ length: count }, (_, at) => Math.floor(chance(seed, 3, 1, at) * 36));
}

/** A number in [0, 1) of these numbers alone. */
export function chance(...numbers: readonly number[]): number {
  let state = 0x9e3779b9;
  for (const each of numbers) {
    state = Math.imul(state ^ (each + 0x7f4a7c15), 0x85ebca6b);
    state = Math.imul(state ^ (state >>> 13), 0xc2b2ae35);
    state ^= state >>> 16;
  }
  return (state >>> 0) / 4294967296;
}

export function choose<Value>(at: number, values: readonly Value[]): Value {
  const value = values[Math.floor(at * values.length)];
  if (value === undefined) throw new Error("nothing to choose from");
  return value;
}

/** One of these by weight. */
export function weigh<Name extends string>(
  at: number,
  weights: Readonly<Record<Name, number>>,
): Name {
  const names = Object.keys(weights) as Name[];
  let left = at * names.reduce((sum, name) => sum + weights[name], 0);
  const found = names.find((name) => (left -= weights[name]) < 0);
  return found ?? choose(0, names);
}
