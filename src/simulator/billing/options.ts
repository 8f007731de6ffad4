// One option for each point that providers leave open. The defaults assume the least caching, but for `entryLives`, which
// follows the documented prices, and `unpublishedBoundary`: a provider that says it caches is taken at its word.
import * as read from "../../core/models/read-fields.ts";

export interface BillingOptions {
  /** What lifetimes count from. Documented: the start of the request that wrote or read. */
  readonly clock: "request start" | "response end";
  /** How long after its lifetime an entry is still found. Documented: 0. */
  readonly graceMs: number;
  /** Whether a marker at or before the hit writes its entry if that is not live. Expired and never written are one case. */
  readonly markerBeforeHit: "refreshes only" | "writes";
  /** Whether a marker finds entries of other lifetimes. */
  readonly crossLifetime: "found" | "not found";
  /** How long an entry lives whose prefix was found as a shorter-lived entry: as its marker says, or as its shortest part. */
  readonly entryLives: "as its marker says" | "as its shortest part";
  /** Where the lookback finds an entry inside a run of tool uses or results. */
  readonly entryInsideRun: "at the run's position" | "only at the run's end";
  /** Whether a run of tool uses or results is one position as the model's route defines, or never. */
  readonly toolRuns: "by route" | "every block";
  /** Whether each tool definition is a lookback position. */
  readonly toolDefinitions: "positions" | "one position";
  /** What a provider keeps that caches by itself and publishes neither boundary nor step. */
  readonly unpublishedBoundary: "any prefix" | "nothing";
  /** The shortest such prefix that is kept, if the provider publishes no minimum. */
  readonly unpublishedMinimumTokens: number;
  /** How long it is kept, if the provider publishes no time either. */
  readonly unpublishedSeconds: number;
  /** Entries beyond this number are dropped, the longest unused first. */
  readonly entriesMax: number;
}

export const stingyBilling: BillingOptions = {
  clock: "request start",
  graceMs: 0,
  markerBeforeHit: "refreshes only",
  crossLifetime: "found",
  entryLives: "as its marker says",
  entryInsideRun: "at the run's position",
  toolRuns: "by route",
  toolDefinitions: "positions",
  unpublishedBoundary: "any prefix",
  unpublishedMinimumTokens: 4_096,
  unpublishedSeconds: 300,
  entriesMax: 1_000_000,
};

const readers: { readonly [Name in keyof BillingOptions]: read.Reader<BillingOptions[Name]> } = {
  clock: read.choice(["request start", "response end"]),
  graceMs: read.count,
  markerBeforeHit: read.choice(["refreshes only", "writes"]),
  crossLifetime: read.choice(["found", "not found"]),
  entryLives: read.choice(["as its marker says", "as its shortest part"]),
  entryInsideRun: read.choice(["at the run's position", "only at the run's end"]),
  toolRuns: read.choice(["by route", "every block"]),
  toolDefinitions: read.choice(["positions", "one position"]),
  unpublishedBoundary: read.choice(["any prefix", "nothing"]),
  unpublishedMinimumTokens: read.count,
  unpublishedSeconds: read.count,
  entriesMax: read.count,
};

/** Throws for unknown options and values out of range. */
export function parseBillingOptions(value: unknown, place: string): Partial<BillingOptions> {
  const given = read.fields(value, place, Object.keys(readers));
  const options = Object.entries(readers).map(
    ([name, reader]) =>
      [name, read.optional<string | number>(given[name], `${place}.${name}`, reader)] as const,
  );
  return Object.fromEntries(options.filter(([, option]) => option !== null));
}
