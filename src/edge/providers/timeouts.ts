// Time limits for the parts of a call, and the failures when they run out.
import type { TimeoutsConfig } from "../../core/config/schema/providers.ts";
import { StrataError } from "../../core/strata-error.ts";
import type { ProviderFailure } from "../../core/wire/failure.ts";
import { delayMsMax } from "./clock.ts";

export type Timeouts = TimeoutsConfig;

export const usualTimeouts: Timeouts = {
  connectMs: 10_000,
  firstByteMs: 600_000,
  idleMs: 300_000,
  totalMs: 3_600_000,
};

export function parseTimeouts(given: Partial<Timeouts>): Timeouts {
  const timeouts = { ...usualTimeouts, ...given };
  for (const [name, ms] of Object.entries(timeouts)) {
    if (Number.isSafeInteger(ms) && ms > 0 && ms <= delayMsMax) continue;
    throw new StrataError(
      "config-invalid",
      `timeouts.${name} is ${String(ms)}, but must be whole milliseconds from 1 to ${delayMsMax}`,
      `set timeouts.${name} to such a number, or leave it out for ${usualOf(name)}`,
    );
  }
  return timeouts;
}

function usualOf(name: string): string {
  const usual = Object.entries(usualTimeouts).find(([each]) => each === name)?.[1];
  return usual === undefined ? "none" : String(usual);
}

const words = {
  connectMs: "no connection within",
  firstByteMs: "no answer within",
  idleMs: "nothing more came within",
  totalMs: "the call was not done within",
} as const;

/** `timeout: no answer within 600000 ms (timeouts.firstByteMs)`. */
export function timedOut(limit: keyof Timeouts, timeouts: Timeouts): ProviderFailure {
  const detail = `${words[limit]} ${timeouts[limit]} ms (timeouts.${limit})`;
  return { kind: "timeout", detail };
}
