// Where providers are silent, billing takes one reading. Each is named; the default is the stingy one.
import { readCount, readFields, readOneOf } from "../../core/models/read-fields.ts";

export interface BillingOptions {
  /** What lifetimes are counted from. Documented: the start of the request that wrote or read. */
  readonly clock: "request start" | "response end";
  /** How much longer than its lifetime an entry is found. Documented: none. */
  readonly graceMs: number;
  /** Whether a marker at or before the hit may write an entry where there never was one. */
  readonly markerBeforeHit: "refreshes only" | "writes";
  /** Whether a marker finds entries of another lifetime than its own. */
  readonly crossLifetime: "found" | "not found";
  /** Where an entry inside a run of tool uses or results is found. */
  readonly entryInsideRun: "at the run's position" | "only at the run's end";
  /** Whether a run of tool uses or results is one position, as the model's route says, or never. */
  readonly toolRuns: "by route" | "every block";
  /** Whether each tool definition is a position of the lookback. */
  readonly toolDefinitions: "positions" | "one position";
  /** How long a provider that names no lifetime keeps a prefix: its minimum, or a seeded draw above it. */
  readonly retention: "minimum" | { readonly seed: number };
  /** Entries beyond this are forgotten, the longest unused first. */
  readonly entriesMax: number;
  /** How long after it expired an entry can still be brought back. */
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

/** Reads options as a user writes them; what is unknown or out of range is an error. */
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
