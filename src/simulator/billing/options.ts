// Where providers are silent, billing takes one reading. Each is named; the default is the stingy one.

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
  /** Whether each tool definition is a position of the lookback. */
  readonly toolDefinitions: "positions" | "one position";
  /** How long a provider that names no lifetime keeps a prefix: its minimum, or a seeded draw above it. */
  readonly retention: "minimum" | { readonly seed: number };
  /** Entries beyond this are forgotten, the longest unused first. */
  readonly entriesMax: number;
}

export const stingyBilling: BillingOptions = {
  clock: "request start",
  graceMs: 0,
  markerBeforeHit: "refreshes only",
  crossLifetime: "found",
  entryInsideRun: "at the run's position",
  toolDefinitions: "positions",
  retention: "minimum",
  entriesMax: 1_000_000,
};
