// The health of a provider's counting: outcomes of its requests, and whether another may be sent.
import type { ProviderFailure } from "../../core/wire/failure.ts";
import type { Reply } from "../../core/wire/reply.ts";
import type { CounterClock } from "./ask-within.ts";
import {
  admitRequest,
  afterCancelling,
  afterFailure,
  afterSuccess,
  closedBreaker,
  type Breaker,
} from "./breaker.ts";

export interface ProviderHealth {
  /** Whether a request may be sent now. After true the caller must send one. */
  admit(): boolean;
  note(outcome: Reply | ProviderFailure): void;
  figures(): HealthFigures;
}

export interface HealthFigures {
  /** Sent requests; each was answered, failed, was cancelled, or is running. */
  readonly requests: number;
  readonly answered: number;
  readonly failed: number;
  readonly cancelled: number;
  /** Counts without a request, because the breaker is open. */
  readonly notAsked: number;
  readonly breaker: Breaker;
}

export function createProviderHealth(clock: CounterClock): ProviderHealth {
  const figures = { requests: 0, answered: 0, failed: 0, cancelled: 0, notAsked: 0 };
  let breaker = closedBreaker;
  return {
    admit: () => {
      const admitted = admitRequest(breaker, clock.nowMs());
      if (admitted === null) {
        figures.notAsked += 1;
        return false;
      }
      breaker = admitted;
      figures.requests += 1;
      return true;
    },
    note: (outcome) => {
      if (outcome.kind === "reply") {
        figures.answered += 1;
        breaker = afterSuccess(breaker);
      } else if (outcome.kind === "cancelled") {
        figures.cancelled += 1;
        breaker = afterCancelling(breaker);
      } else {
        figures.failed += 1;
        const retryAfterMs = "retryAfterMs" in outcome ? outcome.retryAfterMs : undefined;
        breaker = afterFailure(breaker, clock.nowMs(), retryAfterMs);
      }
    },
    figures: () => ({ ...figures, breaker }),
  };
}
