// Whether a failed attempt is followed by another, and when.
import type { RetriesConfig } from "../../core/config/schema/providers.ts";
import { isRetryable, type ProviderFailure } from "../../core/wire/failure.ts";
import { StrataError } from "../../core/strata-error.ts";
import { delayMsMax } from "./clock.ts";

export type RetryOptions = RetriesConfig;

export const usualRetries: RetryOptions = {
  attemptsMax: 4,
  backoffMsBase: 500,
  backoffMsMax: 30_000,
  retryAfterMsMax: 60_000,
};

export interface RetryQuestion {
  /** The number of the attempt that failed, from 1. */
  readonly attempt: number;
  readonly failure: ProviderFailure;
  /** Whether the provider itself advises a retry; null if it says nothing. */
  readonly isWished: boolean | null;
  /** Whether the caller has seen a part of the reply: a retry would repeat it. */
  readonly hasGivenParts: boolean;
  /** Time left for the whole call. */
  readonly leftMs: number;
  /** From 0 to 1, without 1. */
  readonly random: number;
  readonly options: RetryOptions;
}

export interface RetryPlan {
  /** How long to wait; null for no further attempt. */
  readonly delayMs: number | null;
  /** For people to read. */
  readonly reason: string;
}

/** Waits exactly as long as the provider asks; otherwise a random time up to a doubling limit ("full jitter"). */
export function planRetry(question: RetryQuestion): RetryPlan {
  const { attempt, failure, isWished, options } = question;
  if (isWished === false) return stopping("the provider asks for no other attempt");
  const mayPass = isRetryable(failure) || (isWished === true && failure.kind !== "cancelled");
  if (!mayPass) return stopping("the same request would fail again");
  if (question.hasGivenParts) return stopping("a part of the reply was given on already");
  if (attempt >= options.attemptsMax)
    return stopping(`${attempt} of ${options.attemptsMax} attempts`);
  const wishMs = "retryAfterMs" in failure ? (failure.retryAfterMs ?? 0) : 0;
  if (wishMs > options.retryAfterMsMax) {
    return stopping(
      `the provider asks for ${wishMs} ms, which is above retryAfterMsMax ${options.retryAfterMsMax}`,
    );
  }
  const limitMs = Math.min(options.backoffMsMax, options.backoffMsBase * 2 ** (attempt - 1));
  const delayMs = wishMs > 0 ? wishMs : Math.floor(question.random * limitMs);
  if (delayMs >= question.leftMs) {
    return stopping(`${Math.max(0, question.leftMs)} ms are left, and the wait is ${delayMs} ms`);
  }
  const reason = wishMs > 0 ? "the provider asks for it" : `backoff, up to ${limitMs} ms`;
  return { delayMs, reason };
}

export function parseRetries(given: Partial<RetryOptions>): RetryOptions {
  const options = { ...usualRetries, ...given };
  for (const [name, value] of Object.entries(options)) {
    const least = name === "attemptsMax" ? 1 : 0;
    if (Number.isSafeInteger(value) && value >= least && value <= delayMsMax) continue;
    throw new StrataError(
      "config-invalid",
      `retries.${name} is ${String(value)}, but must be a whole number from ${least} to ${delayMsMax}`,
      `set retries.${name} to such a number, or leave it out`,
    );
  }
  return options;
}

function stopping(reason: string): RetryPlan {
  return { delayMs: null, reason };
}
