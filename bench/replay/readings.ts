// The block traces and sessions under other readings of what providers leave open. The default reading assumes the least.
import { atMost, type Check } from "../../harness/report.ts";
import type { TraceKind } from "../../harness/traces.ts";
import { findPolicy } from "../../src/core/cache/policies.ts";
import type { TextCounter } from "../../src/core/tokens/o200k/counter.ts";
import { readRecordings } from "../../src/replay/readers/read-recordings.ts";
import type { ReplayOptions } from "../../src/replay/books.ts";
import { replay } from "../../src/replay/replay.ts";

const tails = ["tail-5m", "tail-1h"];

/** How far above the better simple tail the planner may be where no step bridges a pause. */
const aboveMax = 1.02;

/** An entry lives only as long as its shortest part. The planner is not told: it finds out from bills, in every session anew. */
export async function checkNoStep(path: string, counter: TextCounter): Promise<Check> {
  const ratios = await ratiosOf(path, counter, ["adaptive", ...tails], {
    entryLives: "as its shortest part",
  });
  const better = Math.min(...tails.map((tail) => ratios.get(tail) ?? NaN));
  const limit = Number((aboveMax * better).toFixed(4));
  return atMost("kv: adaptive x limit, no step", ratios.get("adaptive") ?? null, limit);
}

const limitsIfMarkersWrite: Readonly<Record<TraceKind, number>> = { kv: 1.038, sessions: 1.011 };

/** A marker at or before the hit writes its entry, so that an expired head comes back. */
export async function checkRevived(
  kind: TraceKind,
  path: string,
  counter: TextCounter,
): Promise<Check> {
  const ratios = await ratiosOf(path, counter, ["adaptive"], { markerBeforeHit: "writes" });
  const name = `${kind}: adaptive x limit, expired heads come back`;
  return atMost(name, ratios.get("adaptive") ?? null, limitsIfMarkersWrite[kind]);
}

async function ratiosOf(
  path: string,
  counter: TextCounter,
  names: readonly string[],
  billing: NonNullable<ReplayOptions["billing"]>,
): Promise<ReadonlyMap<string, number>> {
  const { policies } = await replay(readRecordings([path], { counter }), {
    policies: names.map((name) => findPolicy(name)),
    model: null,
    groupBy: "none",
    billing,
  });
  return new Map(policies.map(({ policy, ratioToLimit }) => [policy, ratioToLimit]));
}
