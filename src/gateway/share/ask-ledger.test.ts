// A ledger that fails is left alone for a while, and people hear of it once.
import { onTestFinished, expect, test, vi } from "vitest";
import { createAsker, type Asker } from "./ask-ledger.ts";
import type { StateAnswer, StateTask } from "./state-tasks.ts";

const sweep: StateTask = { do: "sweep states", beforeMs: 0 };
const swept: StateAnswer = { done: "sweep states", sweptCount: 0, keptCount: 0 };

interface Asked {
  readonly asker: Asker;
  readonly problems: readonly string[];
  /** How often the ledger was asked. */
  readonly count: () => number;
  readonly use: (answer: () => Promise<StateAnswer>) => void;
}

const answered = (): Promise<StateAnswer> => Promise.resolve(swept);
const refused = (): Promise<StateAnswer> => Promise.reject(new Error("connection refused"));

function openAsker(): Asked {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const problems: string[] = [];
  let count = 0;
  let answer = answered;
  const asker = createAsker({
    askStates: () => {
      count += 1;
      return answer();
    },
    onProblem: (problem) => problems.push(problem),
  });
  return {
    asker,
    problems,
    count: () => count,
    use: (other) => {
      answer = other;
    },
  };
}

test("after a failure it is not asked for a second, and then for twice as long, up to half a minute", async () => {
  const { asker, count, use } = openAsker();
  use(refused);
  const pauses: number[] = [];
  for (let failure = 0; failure < 7; failure += 1) {
    await expect(asker.ask(sweep)).rejects.toThrow("connection refused");
    await expect(asker.ask(sweep)).rejects.toThrow("the ledger is not asked for a while");
    pauses.push(Math.round(asker.pausedMs()));
    vi.advanceTimersByTime(asker.pausedMs());
  }
  expect(pauses).toEqual([1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
  expect(count()).toBe(7);
});

test("people hear once that it fails, and once that it is back", async () => {
  const { asker, problems, use } = openAsker();
  use(refused);
  for (let failure = 0; failure < 3; failure += 1) {
    await Promise.allSettled([asker.ask(sweep), asker.ask(sweep)]);
    vi.advanceTimersByTime(asker.pausedMs());
  }
  use(answered);
  expect(await asker.ask(sweep)).toEqual(swept);
  await asker.ask(sweep);
  expect(problems).toEqual([
    "conversations are not shared, traffic goes on: connection refused",
    "conversations are shared again",
  ]);
  use(refused);
  await expect(asker.ask(sweep)).rejects.toThrow("connection refused");
  expect(Math.round(asker.pausedMs())).toBe(1000);
});

test("no answer within ten seconds is a failure", async () => {
  const { asker, problems, use } = openAsker();
  use(() => new Promise(() => {}));
  const asked = Promise.allSettled([asker.ask(sweep)]);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(await asked).toMatchObject([{ reason: new Error("no answer within 10 s") }]);
  expect(problems).toHaveLength(1);
});

test("what fails while it is being closed is not told", async () => {
  const { asker, problems, use } = openAsker();
  use(refused);
  asker.close();
  await expect(asker.ask(sweep)).rejects.toThrow("connection refused");
  expect(problems).toEqual([]);
});
