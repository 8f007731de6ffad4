// Delays that a platform timer can hold.

/** A longer one would fire immediately. */
const delayMsMax = 2_147_483_647;

export function toDelayMs(ms: number): number {
  return Math.max(0, Math.min(ms, delayMsMax));
}
