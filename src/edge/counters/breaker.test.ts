import { describe, expect, test } from "vitest";
import {
  admitRequest,
  afterCancelling,
  afterFailure,
  afterSuccess,
  closedBreaker,
  type Breaker,
} from "./breaker.ts";

function admit(breaker: Breaker, nowMs: number): Breaker {
  const admitted = admitRequest(breaker, nowMs);
  if (admitted === null) throw new Error(`nothing is admitted at ${nowMs}`);
  return admitted;
}

function failThreeTimes(nowMs: number): Breaker {
  return [1, 2, 3].reduce((breaker) => afterFailure(breaker, nowMs), closedBreaker);
}

describe("a breaker (N-31)", () => {
  test("opens at the third failure in a row, for 30 seconds", () => {
    const twice = afterFailure(afterFailure(closedBreaker, 0), 0);
    expect(twice.state).toBe("closed");
    const open = afterFailure(twice, 1_000);
    expect(open).toMatchObject({ state: "open", retryAtMs: 31_000 });
    expect(admitRequest(open, 30_999)).toBeNull();
    expect(admitRequest(open, 31_000)?.state).toBe("half-open");
  });

  test("forgets failures at the first success", () => {
    const recovered = afterSuccess(afterFailure(afterFailure(closedBreaker, 0), 0));
    expect(afterFailure(afterFailure(recovered, 0), 0).state).toBe("closed");
  });

  test("lets one request at a time through while it is half-open", () => {
    const probing = admit(failThreeTimes(0), 30_000);
    expect(admitRequest(probing, 30_001)).toBeNull();
    expect(admitRequest(afterCancelling(probing), 30_001)?.state).toBe("half-open");
  });

  test("closes after two successes in a row", () => {
    const once = afterSuccess(admit(failThreeTimes(0), 30_000));
    expect(once.state).toBe("half-open");
    expect(afterSuccess(admit(once, 30_001))).toEqual(closedBreaker);
  });

  test("stays open twice as long each time, up to 300 seconds", () => {
    let breaker = failThreeTimes(0);
    const openMs: number[] = [];
    for (let round = 0; round < 6; round += 1) {
      const nowMs = breaker.retryAtMs;
      breaker = afterFailure(admit(breaker, nowMs), nowMs);
      openMs.push(breaker.retryAtMs - nowMs);
    }
    expect(openMs).toEqual([60_000, 120_000, 240_000, 300_000, 300_000, 300_000]);
  });

  test("begins again at 30 seconds once it was closed", () => {
    const reopened = afterFailure(admit(failThreeTimes(0), 30_000), 30_000);
    const closed = afterSuccess(admit(afterSuccess(admit(reopened, 90_000)), 90_000));
    const open = [1, 2, 3].reduce((breaker) => afterFailure(breaker, 100_000), closed);
    expect(open.retryAtMs).toBe(130_000);
  });

  test("keeps a pause that the provider asks for, though not for longer than 300 seconds", () => {
    const paused = afterFailure(closedBreaker, 0, 7_000);
    expect(paused.state).toBe("closed");
    expect(admitRequest(paused, 6_999)).toBeNull();
    expect(admitRequest(paused, 7_000)).toEqual(paused);
    expect(afterFailure(closedBreaker, 0, 86_400_000).retryAtMs).toBe(300_000);
  });

  test("ignores what was sent before it opened", () => {
    const open = failThreeTimes(0);
    expect(afterSuccess(open)).toEqual(open);
    expect(afterFailure(open, 10)).toEqual(open);
  });
});
