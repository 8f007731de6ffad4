// Delays that a timer of the platform can hold.

/** One that is longer would fire at once. */
const delayMsMax = 2_147_483_647;

export function toDelayMs(ms: number): number {
  return Math.max(0, Math.min(ms, delayMsMax));
}
