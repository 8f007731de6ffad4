// How much a key asks of this gateway: requests and tokens per minute, refilled steadily, and requests at a time.
import type { KeyRate } from "./gateway-key.ts";

export interface RateGauge {
  /** Null if a further request may come; else why not, and in how many seconds to try again. */
  findLimit(rate: KeyRate): { readonly limit: string; readonly retryAfterSeconds: number } | null;
  begin(rate: KeyRate): void;
  end(): void;
  /** Tokens that were used, or an estimate that is taken back where it is negative. */
  use(tokens: number, rate: KeyRate): void;
}

/** `nowMs`: a clock that is never set. */
export function createRateGauge(nowMs: () => number): RateGauge {
  const requests = createBucket(nowMs);
  const tokens = createBucket(nowMs);
  let openCount = 0;
  return {
    findLimit: ({ requestsPerMinute = null, tokensPerMinute = null, concurrent = null }) => {
      if (concurrent !== null && openCount >= concurrent) {
        return { limit: `${concurrent} requests at a time`, retryAfterSeconds: 1 };
      }
      if (requestsPerMinute !== null && requests.level(requestsPerMinute) < 1) {
        const wait = requests.secondsUntil(1, requestsPerMinute);
        return { limit: `${requestsPerMinute} requests per minute`, retryAfterSeconds: wait };
      }
      // A request may use more than is left, and the next ones wait for it: else a large one could never come.
      if (tokensPerMinute !== null && tokens.level(tokensPerMinute) <= 0) {
        const wait = tokens.secondsUntil(1, tokensPerMinute);
        return { limit: `${tokensPerMinute} tokens per minute`, retryAfterSeconds: wait };
      }
      return null;
    },
    begin: ({ requestsPerMinute = null }) => {
      openCount += 1;
      if (requestsPerMinute !== null) requests.take(1, requestsPerMinute);
    },
    end: () => {
      openCount -= 1;
    },
    use: (count, { tokensPerMinute = null }) => {
      if (tokensPerMinute !== null) tokens.take(count, tokensPerMinute);
    },
  };
}

interface Bucket {
  level(perMinute: number): number;
  secondsUntil(level: number, perMinute: number): number;
  take(count: number, perMinute: number): void;
}

/** Full at the beginning. */
function createBucket(nowMs: () => number): Bucket {
  let taken = 0;
  let atMs = nowMs();
  const settle = (perMinute: number): void => {
    const now = nowMs();
    taken = Math.max(0, taken - ((now - atMs) / 60_000) * perMinute);
    atMs = now;
  };
  const levelNow = (perMinute: number): number => {
    settle(perMinute);
    return perMinute - taken;
  };
  return {
    level: levelNow,
    secondsUntil: (level, perMinute) =>
      Math.max(1, Math.ceil(((level - levelNow(perMinute)) / perMinute) * 60)),
    take: (count, perMinute) => {
      settle(perMinute);
      taken = Math.max(0, taken + count);
    },
  };
}
