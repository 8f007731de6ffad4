// The report of a benchmark or torture run: figures, and checks that can fail.

export interface Report {
  readonly name: string;
  readonly figures: Readonly<Record<string, Figure>>;
  readonly checks: readonly Check[];
}

export type Figure = number | string | null;

export interface Check {
  readonly name: string;
  /** Null if it could not be measured, which counts as failed. */
  readonly value: number | null;
  readonly limit: string;
  readonly ok: boolean;
}

/** One benchmark or torture file exports one of these as `experiment`. */
export interface Experiment {
  /** One line for the list. */
  readonly summary: string;
  /** Its own options as `name: meaning`; each takes a value, passed as text. */
  readonly options?: Readonly<Record<string, string>>;
  /** With --against: at most so many times the other checkout's CPU time; 1.05 by default. */
  readonly cpuRatioMax?: number;
  /** With --against: only a part of its work is compared; by default the whole process, start-up included. */
  readonly measured?: Measured;
  run(settings: Settings): Promise<Omit<Report, "name">>;
}

export interface Measured {
  /** The progress line after which CPU time counts, to the end of the run. */
  readonly from: string;
  /** How often the bench runs in one process. The first run warms up and does not count. */
  readonly runs: number;
}

export interface Settings {
  /** A folder of recordings, if the user gave one; see traces.ts. */
  readonly traces: string | undefined;
  readonly options: Readonly<Record<string, string | undefined>>;
  /** Progress for people; goes to stderr. */
  readonly progress: (line: string) => void;
}

export function atMost(name: string, value: number | null, limit: number): Check {
  return { name, value: known(value), limit: `<= ${limit}`, ok: (known(value) ?? NaN) <= limit };
}

export function atLeast(name: string, value: number | null, limit: number): Check {
  return { name, value: known(value), limit: `>= ${limit}`, ok: (known(value) ?? NaN) >= limit };
}

export function below(name: string, value: number | null, limit: number): Check {
  return { name, value: known(value), limit: `< ${limit}`, ok: (known(value) ?? NaN) < limit };
}

export function exactly(name: string, value: number | null, expected: number): Check {
  return { name, value: known(value), limit: `= ${expected}`, ok: value === expected };
}

/** A numeric option; refuses anything except a whole number from 1. */
export function wholeNumber(settings: Settings, name: string, otherwise: number): number {
  const text = settings.options[name];
  const value = text === undefined ? otherwise : Number(text);
  if (Number.isSafeInteger(value) && value > 0) return value;
  throw new UsageError(`--${name} must be a whole number from 1, not "${text}"`);
}

/** The databases to run on: --store names one, the default is both. */
export function chosenStores({ options }: Settings): readonly StoreKind[] {
  const { store } = options;
  if (store === undefined) return ["sqlite", "postgres"];
  if (store === "sqlite" || store === "postgres") return [store];
  throw new UsageError("--store is sqlite or postgres");
}

export type StoreKind = "sqlite" | "postgres";

/** A mistake in the command line. */
export class UsageError extends Error {}

function known(value: number | null): number | null {
  return value !== null && Number.isFinite(value) ? value : null;
}
