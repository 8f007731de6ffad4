// Runs of one bench in two checkouts → how much longer ours takes, with a check that can fail.
import { median, quantile } from "./measure.ts";
import { atMost, type Figure, type Report } from "./report.ts";

/** What the CPU ratio may be where the experiment does not say. */
const cpuRatioMaxOtherwise = 1.05;

export interface Comparison extends Report {
  /** The other checkout's folder. */
  readonly against: string;
  /** Ours over theirs, so above 1 is slower. First CPU and wall time of the whole bench, then its own times. */
  readonly ratios: Readonly<Record<string, Spread>>;
  readonly rounds: readonly Round[];
}

export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly lowerQuartile: number;
  readonly upperQuartile: number;
  readonly max: number;
}

export interface Round {
  readonly first: Side;
  readonly ours: Run;
  readonly theirs: Run;
}

export type Side = "ours" | "theirs";

/** One process that ran the bench. */
export interface Run {
  readonly cpuMs: number;
  readonly wallMs: number;
  readonly figures: Readonly<Record<string, Figure>>;
  readonly failedChecks: readonly string[];
}

export function toComparison(
  rounds: readonly Round[],
  cpuRatioMax: number = cpuRatioMaxOtherwise,
): Omit<Comparison, "name" | "against"> {
  const cpu = toSpread(rounds.map(({ ours, theirs }) => ours.cpuMs / theirs.cpuMs));
  const wall = toSpread(rounds.map(({ ours, theirs }) => ours.wallMs / theirs.wallMs));
  const ratios: Record<string, Spread> = { CPU: cpu, wall };
  const notCompared: string[] = [];
  for (const name of timesIn(rounds)) {
    const each = rounds.map((round) => timeRatio(name, round));
    if (each.every(Number.isFinite)) ratios[name] = toSpread(each);
    else notCompared.push(name);
  }
  return {
    figures: {
      rounds: rounds.length,
      "CPU ms, ours": median(rounds.map(({ ours }) => ours.cpuMs)),
      "CPU ms, theirs": median(rounds.map(({ theirs }) => theirs.cpuMs)),
      "failed checks, ours": tellFailed(rounds.map(({ ours }) => ours)),
      "failed checks, theirs": tellFailed(rounds.map(({ theirs }) => theirs)),
      ...(notCompared.length > 0 && { "times not in every run": notCompared.join("; ") }),
    },
    checks: [atMost("median CPU ratio", cpu.median, cpuRatioMax)],
    ratios,
    rounds,
  };
}

/** What a comparison has beyond a report, for people. */
export function toLines({ against, ratios, rounds }: Omit<Comparison, keyof Report>): string[] {
  return [
    `ours is this checkout, theirs is ${against}`,
    "ours / theirs, above 1 is slower: median (min, quartiles, max)",
    ...Object.entries(ratios).map(([name, spread]) => {
      const { lowerQuartile, upperQuartile } = spread;
      const rest = [spread.min, lowerQuartile, upperQuartile, spread.max].map(digits);
      return `  ${name}: ${digits(spread.median)} (${rest.join(", ")})`;
    }),
    "rounds, ours / theirs in ms",
    ...rounds.map(({ first, ours, theirs }, index) => {
      const pair = (key: "cpuMs" | "wallMs"): string =>
        `${Math.round(ours[key])} / ${Math.round(theirs[key])} = ${digits(ours[key] / theirs[key])}`;
      return `  ${index + 1}, ${first} first: CPU ${pair("cpuMs")}, wall ${pair("wallMs")}`;
    }),
  ];
}

function digits(value: number): string {
  return value.toFixed(3);
}

function toSpread(values: readonly number[]): Spread {
  return {
    median: median(values),
    min: Math.min(...values),
    lowerQuartile: quantile(values, 0.25),
    upperQuartile: quantile(values, 0.75),
    max: Math.max(...values),
  };
}

const perSecond = /\/s\b/;

/** Figures say their unit in their name: `call at 100 ms`, `append sqlite turns/s`. */
function timesIn(rounds: readonly Round[]): ReadonlySet<string> {
  const names = rounds.flatMap(({ ours, theirs }) =>
    [ours, theirs].flatMap(({ figures }) => Object.keys(figures)),
  );
  return new Set(names.filter((name) => /\bms\b/.test(name) || perSecond.test(name)));
}

function timeRatio(name: string, { ours, theirs }: Round): number {
  const [left, right] = [ours.figures[name], theirs.figures[name]];
  if (typeof left !== "number" || typeof right !== "number") return Number.NaN;
  // More in a second is less time for each.
  return perSecond.test(name) ? right / left : left / right;
}

function tellFailed(runs: readonly Run[]): string {
  const failed = runs.flatMap(({ failedChecks }) => failedChecks);
  const names = [...new Set(failed)].map((name) => {
    const times = failed.filter((each) => each === name).length;
    return `${name} (${times} of ${runs.length} runs)`;
  });
  return names.join("; ") || "none";
}
