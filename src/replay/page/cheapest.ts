// The policy that the page shows first.
import type { PolicyReport } from "../report.ts";

/** The index of the cheapest policy; the first of equals. */
export function cheapestIndex(policies: readonly PolicyReport[]): number {
  return policies.reduce(
    (best, { costUsd }, index) => (costUsd < (policies[best]?.costUsd ?? Infinity) ? index : best),
    0,
  );
}

export function cheapestFirst(policies: readonly PolicyReport[]): readonly PolicyReport[] {
  return policies.toSorted((left, right) => left.costUsd - right.costUsd);
}
