// A provider where an entry lives only as long as its shortest part: no step bridges a pause, and the planner has to find out.
import { atMost, type Check } from "../../harness/report.ts";
import { findPolicy } from "../../src/core/cache/policies.ts";
import { readRecordings } from "../../src/replay/readers/read-recordings.ts";
import { replay } from "../../src/replay/replay.ts";
import type { TextCounter } from "../../src/core/tokens/o200k/counter.ts";

const tails = ["tail-5m", "tail-1h"];

/** How far above the better simple tail it may be. */
const aboveMax = 1.02;

export async function checkNoStep(path: string, counter: TextCounter): Promise<Check> {
  const report = await replay(readRecordings([path], { counter }), {
    policies: ["adaptive", ...tails].map(findPolicy),
    model: null,
    groupBy: "none",
    billing: { entryLives: "as its shortest part" },
  });
  const ratios = new Map(
    report.policies.map(({ policy, ratioToLimit }) => [policy, ratioToLimit]),
  );
  const better = Math.min(...tails.map((tail) => ratios.get(tail) ?? NaN));
  const limit = Number((aboveMax * better).toFixed(4));
  return atMost("kv: adaptive x limit, no step", ratios.get("adaptive") ?? null, limit);
}
