import { expect, test } from "vitest";
import { backoffMs, retry } from "./retry.ts";

function failing(times: number, code: string): () => Promise<number> {
  let calls = 0;
  return () => {
    calls += 1;
    return calls > times
      ? Promise.resolve(calls)
      : Promise.reject(Object.assign(new Error(code), { code }));
  };
}

test("a lost connection is followed by another attempt, and every loss is reported", async () => {
  const told: unknown[] = [];
  const rules = { forMs: 10_000, onLost: (error: unknown) => told.push(error) };
  expect(await retry(failing(2, "ECONNRESET"), rules)).toBe(3);
  expect(told).toHaveLength(2);
});

test("a deadlock is followed by another attempt, and nothing is reported", async () => {
  const told: unknown[] = [];
  const rules = { forMs: 0, onLost: (error: unknown) => told.push(error) };
  expect(await retry(failing(3, "40P01"), rules)).toBe(4);
  expect(told).toEqual([]);
});

test("deadlocks without end are an error", async () => {
  await expect(retry(failing(1000, "40001"), { forMs: 10_000, onLost: () => {} })).rejects.toThrow(
    "40001",
  );
});

test("a mistake is not made twice", async () => {
  await expect(retry(failing(1, "42P01"), { forMs: 10_000, onLost: () => {} })).rejects.toThrow(
    "42P01",
  );
});

test("a server that stays away is given up after the time", async () => {
  await expect(
    retry(failing(1000, "ECONNREFUSED"), { forMs: 50, onLost: () => {} }),
  ).rejects.toThrow("ECONNREFUSED");
});

test("waits double up to a second, and half of them is chance", () => {
  expect([0, 1, 2, 5, 6, 50].map((attempt) => backoffMs(attempt, 1))).toEqual([
    20, 40, 80, 640, 1000, 1000,
  ]);
  expect(backoffMs(1, 0)).toBe(20);
});
