/** Stops at once when we are wrong. For mistakes of ours only; what callers can fix is a StrataError. */
export function assert(condition: boolean, message: string): asserts condition {
  if (!condition) throw new Error(`Strata is wrong here, please report it: ${message}`);
}
