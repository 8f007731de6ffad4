/** Stops at once on a bug of ours. Mistakes that callers can fix are a StrataError. */
export function assert(condition: boolean, message: string): asserts condition {
  if (!condition) throw new Error(`Strata is wrong here, please report it: ${message}`);
}
