// A circuit breaker: when to stop asking a failing provider, and when to ask again. The time is an argument.

export interface Breaker {
  /** `half-open`: one request at a time finds out whether the provider is well again. */
  readonly state: "closed" | "open" | "half-open";
  /** In a row, while closed. */
  readonly failures: number;
  /** In a row, while half-open. */
  readonly successes: number;
  /** How often it opened without closing in between: each time it stays open twice as long. */
  readonly openings: number;
  /** No request before this time. */
  readonly retryAtMs: number;
  readonly isProbing: boolean;
}

export const breakerLimits = {
  failuresMax: 3,
  successesMin: 2,
  backoffMsMin: 30_000,
  backoffMsMax: 300_000,
} as const;

export const closedBreaker: Breaker = {
  state: "closed",
  failures: 0,
  successes: 0,
  openings: 0,
  retryAtMs: Number.NEGATIVE_INFINITY,
  isProbing: false,
};

/** The breaker with one more running request; null if none may be sent. */
export function admitRequest(breaker: Breaker, nowMs: number): Breaker | null {
  if (nowMs < breaker.retryAtMs || breaker.isProbing) return null;
  if (breaker.state === "closed") return breaker;
  const successes = breaker.state === "open" ? 0 : breaker.successes;
  return { ...breaker, state: "half-open", successes, isProbing: true };
}

export function afterSuccess(breaker: Breaker): Breaker {
  switch (breaker.state) {
    case "closed":
      return { ...breaker, failures: 0 };
    case "open":
      // It was sent before the failures that opened it.
      return breaker;
    case "half-open": {
      const successes = breaker.successes + 1;
      if (successes >= breakerLimits.successesMin) return closedBreaker;
      return { ...breaker, successes, isProbing: false };
    }
  }
}

/** A provider that asks for a pause gets it, even before enough failures to open. */
export function afterFailure(breaker: Breaker, nowMs: number, retryAfterMs = 0): Breaker {
  const wishMs = nowMs + Math.min(retryAfterMs, breakerLimits.backoffMsMax);
  const retryAtMs = Math.max(breaker.retryAtMs, wishMs);
  switch (breaker.state) {
    case "closed": {
      const failures = breaker.failures + 1;
      return failures < breakerLimits.failuresMax
        ? { ...breaker, failures, retryAtMs }
        : openBreaker(breaker, nowMs, retryAtMs);
    }
    case "open":
      return { ...breaker, retryAtMs };
    case "half-open":
      return openBreaker(breaker, nowMs, retryAtMs);
  }
}

/** A request that was cancelled says nothing about the provider. */
export function afterCancelling(breaker: Breaker): Breaker {
  return { ...breaker, isProbing: false };
}

function openBreaker({ openings }: Breaker, nowMs: number, retryAtMs: number): Breaker {
  const { backoffMsMin, backoffMsMax } = breakerLimits;
  const backoffMs = Math.min(backoffMsMax, backoffMsMin * 2 ** openings);
  return {
    ...closedBreaker,
    state: "open",
    openings: openings + 1,
    retryAtMs: Math.max(retryAtMs, nowMs + backoffMs),
  };
}
