import { describe, expect, test } from "vitest";
import type { ModelFacts } from "../models/model-facts.ts";
import { createRuler, type CacheState } from "./cache-state.ts";
import { addEvidence, type CachePromise } from "./evidence.ts";
import { cheapestMarkers, type CheapestMarkers } from "./least-cost.ts";
import { learnPace, openPace, type Pace } from "./pace.ts";
import { blocksOf, entryAt, gpt, nowMs, olderGpt, sonnet, stateWith } from "./test-kit.ts";

interface Question {
  readonly shorts: readonly string[];
  readonly model?: ModelFacts;
  readonly state?: CacheState;
  readonly pace?: Pace;
}

function cheapest({
  shorts,
  model = sonnet,
  state = stateWith(),
  pace = openPace("human"),
}: Question): CheapestMarkers {
  const blocks = blocksOf(...shorts);
  const ruler = createRuler(blocks, null);
  return cheapestMarkers({
    blocks,
    rules: model.cache,
    state,
    known: state.entries,
    pace,
    ruler,
    nowMs,
  });
}

/** In order of rank, such as `tail 3 5m`. */
function chosen(question: Question): readonly string[] {
  return cheapest(question).candidates.map(
    ({ slot, block, lifetime }) => `${slot} ${block} ${lifetime}`,
  );
}

function gaps(pace: Pace, count: number, gapMs: number): Pace {
  return Array.from({ length: count }).reduce<Pace>((learned) => learnPace(learned, gapMs), pace);
}

function refuting(state: CacheState, promise: CachePromise): CacheState {
  const twice = addEvidence(addEvidence(state.evidence, promise, false), promise, false);
  return { ...state, evidence: twice };
}

const loop = openPace("tool loop");
const cold = ["tool 500", "static 3000", "session 1000", "user 200", "volatile 50"];
/** The hit ends at 4700 tokens, the step at 5000. */
const grown = [...cold.slice(0, 4), "said 300", "use 100", "result 2000", "volatile 50"];
const warm = stateWith(entryAt(3, "5m"));

describe("a first call", () => {
  test("writes for five minutes only: the head for others, the tail for the next call", () => {
    expect(chosen({ shorts: cold })).toEqual(["tail 3 5m", "head 2 5m", "guard 2 5m"]);
  });

  test("writes nothing that no later call reads", () => {
    const oneShot = cheapest({ shorts: cold, pace: openPace("one-shot") });
    expect(oneShot).toEqual({ candidates: [], mode: "explicit" });
  });

  test("writes nothing that is too short to be kept", () => {
    expect(cheapest({ shorts: ["static 900", "user 100"] }).candidates).toEqual([]);
  });
});

describe("a small step for an hour", () => {
  test("is set behind the hit when a pause is likely enough to be worth its price", () => {
    // 0.75 · 410 = 308 tokens against the next pause, 1.15 · 0.0465 · 5110 = 273, and 40 for later ones.
    const shorts = grown.with(4, "said 410");
    expect(chosen({ shorts, state: warm })).toEqual([
      "tail 6 5m",
      "step 4 1h",
      "guard 5 5m",
      "head 2 5m",
    ]);
  });

  test("is not set when it is too large for that", () => {
    // 0.75 · 430 = 323 tokens against 1.15 · 0.0465 · 5130 + 40 = 314: a later call may make the step for less.
    const shorts = grown.with(4, "said 430");
    expect(chosen({ shorts, state: warm })).not.toContain("step 4 1h");
  });

  test("may be larger after a slow gap, because a pause is likelier then", () => {
    const shorts = grown.with(4, "said 430");
    const pace = learnPace(openPace("human"), 2 * 60_000);
    expect(chosen({ shorts, state: warm, pace })).toContain("step 4 1h");
  });

  test("is not set when pauses are rare", () => {
    expect(chosen({ shorts: grown, state: warm, pace: loop })).toEqual([
      "tail 6 5m",
      "guard 5 5m",
      "head 2 5m",
    ]);
  });

  test("is not set any more where the provider was seen not to keep it", () => {
    const state = refuting(warm, "long lifetimes last");
    expect(chosen({ shorts: grown, state })).toEqual(["tail 6 5m", "guard 5 5m", "head 2 5m"]);
  });

  test("is only a test where one was lost: made if it costs next to nothing", () => {
    const lost = addEvidence(warm.evidence, "steps last", false);
    const state = { ...warm, evidence: lost };
    // 0.75 · 300 = 225 tokens against a hundredth of what the call reads, 0.1 · 4700 / 100 = 4.7.
    expect(chosen({ shorts: grown, state })).toEqual(["tail 6 5m", "guard 5 5m", "head 2 5m"]);
    expect(chosen({ shorts: grown.with(4, "said 6"), state })).toContain("step 4 1h");
  });
});

test("everything lives an hour where nearly every gap is longer than five minutes", () => {
  const pace = gaps(openPace("human"), 40, 25 * 60_000);
  expect(chosen({ shorts: grown, state: warm, pace })).toEqual([
    "tail 6 1h",
    "step 4 1h",
    "guard 5 5m",
    "head 2 5m",
  ]);
});

describe("the head", () => {
  test("is kept alive by a marker for as long as its entry lives", () => {
    const state = stateWith(entryAt(2, "5m"), entryAt(3, "5m"));
    expect(chosen({ shorts: grown, state, pace: loop })).toEqual([
      "tail 6 5m",
      "head 2 5m",
      "guard 5 5m",
    ]);
  });

  test("once its entry expired is marked last, for nothing and at no risk", () => {
    const state = stateWith(entryAt(2, "5m", 400_000), entryAt(3, "5m"));
    expect(chosen({ shorts: grown, state, pace: loop })).toEqual([
      "tail 6 5m",
      "guard 5 5m",
      "head 2 5m",
    ]);
  });

  test("leaves a free slot to the end of long tools, in case the system text changes", () => {
    const shorts = grown.with(0, "tool 1500");
    expect(chosen({ shorts, state: warm, pace: loop })).toEqual([
      "tail 6 5m",
      "guard 5 5m",
      "head 0 5m",
      "head 2 5m",
    ]);
  });
});

describe("the guard", () => {
  test("stands a hundred tokens before the tail, and further after much new text", () => {
    const shorts = ["static 3000", "user 9000", "part 500", "part 60", "part 60", "user 60"];
    // 1 % of 12,680 new tokens is 127: 60 and 60 are too near.
    expect(chosen({ shorts, pace: loop })).toContain("guard 2 5m");
    const state = stateWith(entryAt(1, "5m"));
    expect(chosen({ shorts, state, pace: loop })).toContain("guard 3 5m");
  });
});

describe("the place where the last call ended", () => {
  const burst = ["static 3000", "user 200", "said 500 x30", "user 20"];
  const ended = stateWith(entryAt(1, "5m"));

  test("is marked again when more was added than a marker looks back over", () => {
    expect(chosen({ shorts: burst, state: ended, pace: loop })).toContain("previous tail 1 5m");
  });

  test("is in sight of the tail up to nineteen positions before it, and not of the twentieth", () => {
    const near = ["static 3000", "user 200", "said 500 x19"];
    const far = ["static 3000", "user 200", "said 500 x20"];
    expect(chosen({ shorts: near, state: ended, pace: loop })).not.toContain("previous tail 1 5m");
    expect(chosen({ shorts: far, state: ended, pace: loop })).toContain("previous tail 1 5m");
  });

  test("needs no marker where a step behind it sees it", () => {
    const shorts = ["static 3000", "user 200", "said 10", "said 500 x30"];
    const markers = chosen({ shorts, state: ended });
    expect(markers).toContain("step 2 1h");
    expect(markers).not.toContain("previous tail 1 5m");
  });

  test.each<CachePromise>(["lookback finds", "writes are kept"])(
    "is always marked once it was refuted that %s",
    (promise) => {
      const state = refuting(ended, promise);
      const shorts = ["static 3000", "user 200", "said 500", "user 20"];
      expect(chosen({ shorts, state, pace: loop })).toContain("previous tail 1 5m");
      expect(chosen({ shorts, state: ended, pace: loop })).not.toContain("previous tail 1 5m");
    },
  );

  test("counts for nothing once it expired or the prompt begins otherwise", () => {
    const expired = stateWith(entryAt(1, "5m", 300_001));
    const other = stateWith({ ...entryAt(1, "5m"), key: "other" });
    const first = chosen({ shorts: burst, pace: loop });
    expect(chosen({ shorts: burst, state: expired, pace: loop })).toEqual(first);
    expect(chosen({ shorts: burst, state: other, pace: loop })).toEqual(first);
  });
});

function markersAfter(ageMs: number): CheapestMarkers["candidates"] {
  const state = stateWith(entryAt(2, "1h", ageMs), entryAt(3, "5m"));
  return cheapest({ shorts: grown, state, pace: loop }).candidates;
}

test("a long-lived prefix is kept alive by a marker of its own once it was untouched for twenty minutes", () => {
  const kept = {
    block: 2,
    lifetime: "1h",
    slot: "step",
    reason: "keeps the long-lived prefix alive",
  };
  expect(markersAfter(20 * 60_000)).toContainEqual(kept);
  // Before that it has forty minutes left, and its slot is free.
  expect(markersAfter(20 * 60_000 - 1)).not.toContainEqual(kept);
});

describe("where the provider ends prefixes by itself", () => {
  test("a marker at the head is for other sessions, and the tail is the provider's", () => {
    expect(cheapest({ model: gpt, shorts: cold })).toEqual({
      mode: "implicit",
      candidates: [
        {
          block: 2,
          lifetime: "30m",
          slot: "head",
          reason: "shared by every call and session on the same foundation",
        },
      ],
    });
  });

  test("it writes nothing for a call without a successor", () => {
    const pace = openPace("one-shot");
    expect(cheapest({ model: gpt, shorts: cold, pace })).toEqual({
      candidates: [],
      mode: "explicit",
    });
  });

  test("the last end is marked when more messages came than the provider looks back over", () => {
    const state = stateWith(entryAt(1, "30m", 60_000, gpt.cache));
    const near = ["static 3000", "user 200", "user 20 x20"];
    const far = ["static 3000", "user 200", "user 20 x21"];
    expect(chosen({ model: gpt, shorts: near, state })).not.toContain("previous tail 1 30m");
    expect(chosen({ model: gpt, shorts: far, state })).toContain("previous tail 1 30m");
  });
});

test("nothing is chosen where the provider takes no markers", () => {
  expect(cheapest({ model: olderGpt, shorts: cold }).candidates).toEqual([]);
});
