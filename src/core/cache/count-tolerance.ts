// How far our token count may differ from the provider's before the difference means something.

/** A share of the compared tokens. */
export const toleranceShare = 0.05;

/** A few odd blocks can be off by this much even in a short prompt. */
const toleranceTokensMin = 200;

export function countTolerance(tokens: number): number {
  return Math.max(toleranceTokensMin, tokens * toleranceShare);
}
