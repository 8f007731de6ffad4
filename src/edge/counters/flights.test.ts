import { describe, expect, test } from "vitest";
import { createFlights } from "./flights.ts";

describe("requests under way", () => {
  test("are joined by who asks for the same", async () => {
    const flights = createFlights<number>();
    const answer = Promise.withResolvers<number>();
    let started = 0;
    const start = (): Promise<number> => {
      started += 1;
      return answer.promise;
    };
    const waiting = [flights.join("a", start), flights.join("a", start)];
    expect(flights.isUnderWay("a")).toBe(true);
    answer.resolve(7);
    expect(await Promise.all(waiting)).toEqual([7, 7]);
    expect([started, flights.isUnderWay("a")]).toEqual([1, false]);
  });

  test("go on for the others when one leaves", async () => {
    const flights = createFlights<number>();
    const answer = Promise.withResolvers<number>();
    const leaving = new AbortController();
    const signals: AbortSignal[] = [];
    const start = (signal: AbortSignal): Promise<number> => {
      signals.push(signal);
      return answer.promise;
    };
    const left = flights.join("a", start, leaving.signal);
    const stays = flights.join("a", start);
    leaving.abort();
    expect(await left).toBeNull();
    expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
    answer.resolve(7);
    expect(await stays).toBe(7);
  });

  test("are aborted when the last one leaves, and the next who asks starts anew", async () => {
    const flights = createFlights<number>();
    const leaving = new AbortController();
    const signals: AbortSignal[] = [];
    const never = (signal: AbortSignal): Promise<number> => {
      signals.push(signal);
      return new Promise(() => {});
    };
    const left = flights.join("a", never, leaving.signal);
    leaving.abort();
    expect(await left).toBeNull();
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
    expect(await flights.join("a", () => Promise.resolve(8))).toBe(8);
  });

  test("are not started by who has left already", async () => {
    let started = 0;
    const start = (): Promise<number> => {
      started += 1;
      return Promise.resolve(7);
    };
    expect(await createFlights<number>().join("a", start, AbortSignal.abort())).toBeNull();
    expect(started).toBe(0);
  });
});
