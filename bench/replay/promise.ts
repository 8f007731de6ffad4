// The promise for every single session: never far above the best of the simple policies, whichever that was.
import { atMost, type Check, type Figure } from "../../harness/report.ts";
import type { SessionCosts } from "./sessions.ts";

const simple = ["tail-5m", "tail-1h", "hermes", "none"];

interface Excess {
  readonly name: string;
  /** In 5-minute writes of the session's largest prompt. */
  readonly writes: number;
  readonly ratio: number;
}

export function checkPromise(sessions: readonly SessionCosts[]): {
  readonly figures: Readonly<Record<string, Figure>>;
  readonly checks: readonly Check[];
} {
  const excesses = sessions.map(excessOf).filter(({ ratio }) => Number.isFinite(ratio));
  const byWrites = excesses.toSorted((left, right) => right.writes - left.writes)[0];
  const byRatio = excesses.toSorted((left, right) => right.ratio - left.ratio)[0];
  const above = excesses.filter(({ ratio }) => ratio > 1.03).length;
  return {
    figures: {
      "recordings compared with simple policies": excesses.length,
      "worst excess in": byWrites?.name ?? null,
      "worst ratio in": byRatio?.name ?? null,
    },
    checks: [
      atMost("worst excess in writes", byWrites?.writes ?? null, 1),
      atMost("worst ratio to best simple", byRatio?.ratio ?? null, 1.5),
      atMost("traces more than 3 % above best simple", above / excesses.length, 0.03),
    ],
  };
}

function excessOf({ name, costUsd, writeUsd }: SessionCosts): Excess {
  const ours = costUsd.get("adaptive") ?? NaN;
  const best = Math.min(...simple.map((policy) => costUsd.get(policy) ?? Infinity));
  return { name, writes: (ours - best) / writeUsd, ratio: ours / best };
}
