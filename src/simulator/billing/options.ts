// One option for each point that providers leave open. The defaults assume the least caching.
import { readCount, readFields, readOneOf } from "../../core/models/read-fields.ts";

export interface BillingOptions {
  /** What lifetimes count from. Documented: the start of the request that wrote or read. */
  readonly clock: "request start" | "response end";
  /** How long after its lifetime an entry is still found. Documented: 0. */
  readonly graceMs: number;
  /** Whether a marker at or before the hit can write a new entry. */
  readonly markerBeforeHit: "refreshes only" | "writes";
  /** Whether a marker finds entries of other lifetimes. */
  readonly crossLifetime: "found" | "not found";
  /** Where the lookback finds an entry inside a run of tool uses or results. */
  readonly entryInsideRun: "at the run's position" | "only at the run's end";
  /** Whether a run of tool uses or results is one position as the model's route defines, or never. */
  readonly toolRuns: "by route" | "every block";
  /** Whether each tool definition is a lookback position. */
  readonly toolDefinitions: "positions" | "one position";
  /** How long a provider without named lifetimes keeps a prefix: its minimum, or a seeded random time above it. */
  readonly retention: "minimum" | { readonly seed: number };
  /** Entries beyond this number are dropped, the longest unused first. */
  readonly entriesMax: number;
  /** How long a marker can bring back an expired entry. */
  readonly expiredKeptMs: number;
}

export const stingyBilling: BillingOptions = {
  clock: "request start",
  graceMs: 0,
  markerBeforeHit: "refreshes only",
  crossLifetime: "found",
  entryInsideRun: "at the run's position",
  toolRuns: "by route",
  toolDefinitions: "positions",
  retention: "minimum",
  entriesMax: 1_000_000,
  expiredKeptMs: 24 * 60 * 60 * 1000,
};

/** Throws for unknown options and values out of range. */
export function parseBillingOptions(value: unknown, place: string): Partial<BillingOptions> {
  const given = readFields(value, place, Object.keys(stingyBilling));
  const read = <Option>(name: keyof BillingOptions, parse: Reader<Option>): Option | undefined =>
    given[name] === undefined ? undefined : parse(given[name], `${place}.${name}`);
  const options = {
    clock: read("clock", oneOf("request start", "response end")),
    graceMs: read("graceMs", readCount),
    markerBeforeHit: read("markerBeforeHit", oneOf("refreshes only", "writes")),
    crossLifetime: read("crossLifetime", oneOf("found", "not found")),
    entryInsideRun: read("entryInsideRun", oneOf("at the run's position", "only at the run's end")),
    toolRuns: read("toolRuns", oneOf("by route", "every block")),
    toolDefinitions: read("toolDefinitions", oneOf("positions", "one position")),
    retention: read("retention", parseRetention),
    entriesMax: read("entriesMax", readCount),
    expiredKeptMs: read("expiredKeptMs", readCount),
  };
  return Object.fromEntries(Object.entries(options).filter(([, option]) => option !== undefined));
}

type Reader<Option> = (value: unknown, place: string) => Option;

function oneOf<Choice extends string>(...choices: Choice[]): Reader<Choice> {
  return (option, place) => readOneOf(option, choices, place);
}

function parseRetention(value: unknown, place: string): BillingOptions["retention"] {
  if (value === "minimum") return value;
  return { seed: readCount(readFields(value, place, ["seed"])["seed"], `${place}.seed`) };
}
