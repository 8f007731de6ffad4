import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  chanceWithin,
  expectedCalls,
  learnPace,
  openPace,
  paceAt,
  readPace,
  siblingChanceWithin,
  type Pace,
  type PaceKind,
} from "./pace.ts";

const minutes = 60_000;
const day = 24 * 60 * minutes;

function afterGaps(pace: Pace, count: number, gapMs: number): Pace {
  return Array.from({ length: count }).reduce<Pace>((learned) => learnPace(learned, gapMs), pace);
}

describe("before anything is seen", () => {
  test.each<[PaceKind, number, number]>([
    ["human", 0.9114, 0.9751],
    ["tool loop", 0.9604, 0.97804],
    ["worker", 0.9443, 0.949525],
    ["cron", 0.049, 0.931],
    ["one-shot", 0, 0],
  ])(
    "a %s comes back within five minutes and within a day as its kind does",
    (kind, soon, daily) => {
      expect(chanceWithin(openPace(kind), 5 * minutes)).toBeCloseTo(soon, 10);
      expect(chanceWithin(openPace(kind), day)).toBeCloseTo(daily, 10);
    },
  );

  test("gaps of one class count as spread evenly", () => {
    // Half of the first class: 0.98 · 0.93 / 2.
    expect(chanceWithin(openPace("human"), 2.5 * minutes)).toBeCloseTo(0.4557, 10);
    // All of it and a fifth of the next: 0.98 · (0.93 + 0.04 / 5).
    expect(chanceWithin(openPace("human"), 10 * minutes)).toBeCloseTo(0.91924, 10);
  });

  test("other sessions on the same foundation have chances of their own", () => {
    expect(siblingChanceWithin(openPace("worker"), 5 * minutes)).toBeCloseTo(0.5, 10);
    expect(siblingChanceWithin(openPace("human"), 60 * minutes)).toBeCloseTo(0.12, 10);
  });

  test("each kind makes so many calls in a session", () => {
    const kinds: readonly PaceKind[] = ["human", "tool loop", "worker", "cron", "one-shot"];
    expect(kinds.map((kind) => expectedCalls(openPace(kind)))).toEqual([20, 20, 10, 1, 1]);
  });
});

describe("what earlier sessions of the agent saw", () => {
  const slow = afterGaps(afterGaps(openPace("human"), 60, minutes), 20, 20 * minutes);

  test("counts for twice the prior at most, so that a changed agent is learned anew", () => {
    const next = openPace("human", [slow, slow]);
    // 61 gaps came at once (the first pause among them), 19 after a pause; together they count as 16 and 6.
    expect(next.inherited).toEqual({
      gaps: [15.738, 0.262, 0, 0, 0, 0],
      gapsAfterPause: [0, 6, 0, 0, 0, 0],
    });
    const afterPause = learnPace(next, 20 * minutes);
    const fresh = learnPace(openPace("human"), 20 * minutes);
    const soon = (pace: Pace): number => chanceWithin(pace, 5 * minutes);
    expect(soon(afterPause)).toBeLessThan(0.32);
    expect(soon(fresh)).toBeGreaterThan(0.9);
    // Nine quick returns say more than it.
    const changed = Array.from({ length: 9 }).reduce<Pace>(
      (pace) => learnPace(learnPace(pace, minutes), 20 * minutes),
      afterPause,
    );
    expect(soon(changed)).toBeGreaterThan(0.63);
  });

  test("is passed on only once: what a session inherited is not its own", () => {
    const second = learnPace(openPace("human", [slow]), 2 * minutes);
    expect(openPace("human", [second])).toEqual({
      kind: "human",
      gaps: [0, 0, 0, 0, 0, 0],
      gapsAfterPause: [0, 0, 0, 0, 0, 0],
      lastWasPause: false,
      inherited: { gaps: [1, 0, 0, 0, 0, 0], gapsAfterPause: [0, 0, 0, 0, 0, 0] },
    });
  });

  test("says nothing about the end of this one", () => {
    const next = openPace("human", [slow]);
    expect(chanceWithin(next, 10_000 * day)).toBeLessThanOrEqual(0.98);
    expect(chanceWithin(next, day)).toBeGreaterThan(0.975);
  });

  test("says nothing about another kind of agent", () => {
    expect(openPace("worker", [slow])).toEqual(openPace("worker"));
  });
});

describe("what is seen", () => {
  test("includes the gap that has just ended when a call starts, and nothing before the first call", () => {
    const pace = openPace("human");
    expect(paceAt(pace, null, 20 * minutes)).toBe(pace);
    expect(paceAt(pace, 5 * minutes, 25 * minutes)).toEqual(learnPace(pace, 20 * minutes));
    expect(paceAt(pace, 5 * minutes, 25 * minutes).lastWasPause).toBe(true);
  });

  test("shifts the chances: eight gaps weigh as much as the prior", () => {
    const learned = afterGaps(openPace("human"), 8, minutes);
    // Eight calls came, so the end is a fifth as likely as at first: 0.02 · 2 / (2 + 8).
    expect(chanceWithin(learned, 5 * minutes)).toBeCloseTo((0.996 * (8 + 8 * 0.93)) / 16, 10);
  });

  test("after a pause is counted apart and learned faster", () => {
    const learned = afterGaps(openPace("human"), 8, 10 * minutes);
    // Seven of the eight followed a pause, where the prior weighs three.
    expect(chanceWithin(learned, 5 * minutes)).toBeCloseTo((0.996 * 3 * 0.93) / 10, 10);
    expect(chanceWithin(learned, 30 * minutes)).toBeCloseTo((0.996 * (7 + 3 * 0.97)) / 10, 10);
    const back = learnPace(learned, minutes);
    expect(back.lastWasPause).toBe(false);
    expect(chanceWithin(back, 5 * minutes)).toBeGreaterThan(0.8);
  });

  test("a call that comes although none was expected is believed", () => {
    const learned = afterGaps(openPace("one-shot"), 6, 0.3 * minutes);
    expect(chanceWithin(openPace("one-shot"), 5 * minutes)).toBe(0);
    expect(chanceWithin(learned, 5 * minutes)).toBeCloseTo(0.75, 10);
  });

  test("belongs to the class whose lifetime it does not exceed", () => {
    const gaps = [5 * minutes, 5 * minutes + 1, 60 * minutes, day, day + 1];
    const seen = gaps.reduce((pace, gapMs) => learnPace(pace, gapMs), openPace("human"));
    expect(seen.gaps).toEqual([1, 0, 0, 0, 0, 0]);
    // Five minutes are slow, and no pause yet.
    expect(seen.gapsAfterSlow).toEqual([0, 1, 0, 0, 0, 0]);
    expect(seen.gapsAfterPause).toEqual([0, 0, 1, 0, 1, 1]);
  });

  test("after a gap of more than a minute a person is likelier to pause, and what follows is learned apart", () => {
    const quick = learnPace(openPace("human"), minutes);
    const slow = learnPace(openPace("human"), minutes + 1);
    // The session has made one more call, so its end is less likely: 1 - 0.02 · 2 / 3. Beside the prior counts one quick gap.
    expect(chanceWithin(quick, 5 * minutes)).toBeCloseTo((1 - 0.04 / 3) * ((1 + 8 * 0.93) / 9), 10);
    expect(chanceWithin(slow, 5 * minutes)).toBeCloseTo((1 - 0.04 / 3) * 0.888, 10);
    const learned = afterGaps(slow, 8, 2 * minutes);
    expect(learned).toMatchObject({ gaps: [1, 0, 0, 0, 0, 0], gapsAfterSlow: [8, 0, 0, 0, 0, 0] });
    expect(chanceWithin(learned, 5 * minutes)).toBeGreaterThan(0.94);
    expect(learnPace(learned, 1000)).not.toHaveProperty("lastWasSlow");
  });

  test("is the same after it was stored, also by a version that did not tell slow gaps apart", () => {
    const seen = afterGaps(
      openPace("human", [afterGaps(openPace("human"), 3, 2 * minutes)]),
      2,
      2 * minutes,
    );
    expect(readPace(JSON.parse(JSON.stringify(seen)))).toEqual(seen);
    const old = {
      kind: "human",
      gaps: [1, 0, 0, 0, 0, 0],
      gapsAfterPause: [0, 0, 0, 0, 0, 0],
      lastWasPause: false,
    };
    expect(readPace(old)).toEqual(old);
  });

  test("never makes a chance leave 0 to 1 or fall with time", () => {
    const kind = fc.constantFrom<PaceKind>("human", "tool loop", "worker", "cron", "one-shot");
    const gaps = fc.array(fc.nat({ max: 2 * day }), { maxLength: 50 });
    fc.assert(
      fc.property(
        kind,
        gaps,
        fc.nat({ max: 2 * day }),
        fc.nat({ max: day }),
        (of, seen, ms, more) => {
          const pace = seen.reduce((learned, gapMs) => learnPace(learned, gapMs), openPace(of));
          const [sooner, later] = [chanceWithin(pace, ms), chanceWithin(pace, ms + more)];
          expect(sooner).toBeGreaterThanOrEqual(0);
          expect(later).toBeGreaterThanOrEqual(sooner);
          expect(later).toBeLessThanOrEqual(1);
        },
      ),
    );
  });
});
