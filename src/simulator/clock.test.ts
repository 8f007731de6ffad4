import { expect, test } from "vitest";
import { createRealClock, createVirtualClock } from "./clock.ts";

test("a virtual clock stands still until it is moved", async () => {
  const clock = createVirtualClock(1000);
  expect(clock.now()).toBe(1000);
  await clock.advance(60_000);
  expect(clock.now()).toBe(61_000);
  await clock.set(70_000);
  expect(clock.now()).toBe(70_000);
});

test("no clock goes back", async () => {
  const clock = createVirtualClock(1000);
  await expect(clock.set(999)).rejects.toThrow("never goes back");
  await expect(clock.advance(-1)).rejects.toThrow("never goes back");
  expect(clock.now()).toBe(1000);
  await clock.set(1000);
});

test("two moves started together are made one after the other", async () => {
  const clock = createVirtualClock(0);
  await Promise.all([clock.advance(10), clock.advance(5), clock.advance(1)]);
  expect(clock.now()).toBe(16);
});

test("what waits on a virtual clock happens at its own time, in order", async () => {
  const clock = createVirtualClock(0);
  const seen: [string, number][] = [];
  const tick = async (name: string, ms: number, times: number): Promise<void> => {
    for (let index = 0; index < times; index += 1) {
      await clock.wait(ms);
      seen.push([name, clock.now()]);
    }
  };
  const both = Promise.all([tick("a", 10, 3), tick("b", 15, 2)]);
  await clock.advance(100);
  await both;
  expect(seen).toEqual([
    ["a", 10],
    ["b", 15],
    ["a", 20],
    ["b", 30],
    ["a", 30],
  ]);
});

test.each([
  ["virtual", createVirtualClock(0)],
  ["real", createRealClock()],
] as const)("a wait on a %s clock can be aborted", async (_kind, clock) => {
  const leaving = new AbortController();
  const waiting = clock.wait(3_600_000, leaving.signal);
  leaving.abort();
  await waiting;
  await expect(clock.wait(3_600_000, leaving.signal)).resolves.toBeUndefined();
});

test("a real clock cannot be moved, and says what to do", async () => {
  const clock = createRealClock();
  expect(Math.abs(clock.now() - Date.now())).toBeLessThan(1000);
  await expect(clock.advance(1)).rejects.toThrow("machine's clock");
  await expect(clock.set(1)).rejects.toThrow("machine's clock");
});

test("it refuses a time beyond the largest date, and keeps its own", async () => {
  const clock = createVirtualClock(1000);
  for (const ms of [1e16, 1e308, 1.5, Number.NaN]) {
    await expect(clock.advance(ms)).rejects.toThrow("the clock cannot be set to");
  }
  await clock.advance(5);
  expect(clock.now()).toBe(1005);
});
