// How far our count may be from the provider's before the difference says something about the cache.

/** Of the tokens that are compared. */
export const toleranceShare = 0.05;

/** What a few odd blocks can be off, however short the prompt is. */
const toleranceTokensMin = 200;

export function countTolerance(tokens: number): number {
  return Math.max(toleranceTokensMin, tokens * toleranceShare);
}
