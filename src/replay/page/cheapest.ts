// Which policy a page speaks of first.
import type { PolicyReport } from "../report.ts";

/** The place of the cheapest policy; of equal ones the first. */
export function cheapestIndex(policies: readonly PolicyReport[]): number {
  return policies.reduce(
    (best, { costUsd }, index) => (costUsd < (policies[best]?.costUsd ?? Infinity) ? index : best),
    0,
  );
}

export function cheapestFirst(policies: readonly PolicyReport[]): readonly PolicyReport[] {
  return policies.toSorted((left, right) => left.costUsd - right.costUsd);
}
