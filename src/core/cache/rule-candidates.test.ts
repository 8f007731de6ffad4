import { describe, expect, test } from "vitest";
import type { MarkerPlace } from "./policy.ts";
import { ruleCandidates } from "./rule-candidates.ts";
import { blocksOf, stateWith } from "./test-kit.ts";
import type { CacheState } from "./cache-state.ts";

/** 0 1 tools, 2 static, 3 session, 4 user, 5 6 assistant, 7 8 results, 9 assistant, 10 11 user, 12 volatile. */
const blocks = blocksOf(
  "tool 10 x2",
  "static 10",
  "session 10",
  "user 10",
  "said 10",
  "use 10",
  "result 10 x2",
  "assistant 10",
  "part 10",
  "user 10",
  "volatile 10",
);

function placesOf(
  place: MarkerPlace,
  state: CacheState = stateWith(),
  of = blocks,
): readonly number[] {
  return ruleCandidates([{ place, lifetime: "5m" }], of, state).map(({ block }) => block);
}

const ended = (key: string): CacheState => ({ ...stateWith(), lastTail: { key, block: 8 } });

describe("a rule's marker goes to", () => {
  test.each<[MarkerPlace, readonly number[]]>([
    [{ at: "last tool" }, [1]],
    [{ at: "last stable system block" }, [3]],
    [{ at: "system block", label: "static" }, [2]],
    [{ at: "system block", label: "channel_meta" }, []],
    [{ at: "tail" }, [11]],
    [{ at: "previous tail" }, []],
    [{ at: "latest user" }, [11]],
    [{ at: "last messages", count: 3 }, [11, 9, 8]],
    [{ at: "last messages", count: 9 }, [11, 9, 8, 6, 4]],
    [{ at: "request" }, []],
  ])("%j", (place, expected) => {
    expect(placesOf(place)).toEqual(expected);
  });

  test("where the last call ended, while the prompt still begins the same", () => {
    const place = { at: "previous tail" } as const;
    expect(placesOf(place, ended("k8"))).toEqual([8]);
    expect(placesOf(place, ended("other"))).toEqual([]);
  });

  test("the latest words of the user, not the results of tools", () => {
    const loop = blocksOf("static 10", "user 10", "use 10", "result 10");
    expect(placesOf({ at: "latest user" }, stateWith(), loop)).toEqual([1]);
    const none = blocksOf("static 10", "assistant 10", "result 10");
    expect(placesOf({ at: "latest user" }, stateWith(), none)).toEqual([]);
  });

  test("no message where there is none yet", () => {
    const head = blocksOf("tool 10", "static 10");
    expect(placesOf({ at: "tail" }, stateWith(), head)).toEqual([]);
    expect(placesOf({ at: "last messages", count: 3 }, stateWith(), head)).toEqual([]);
    expect(placesOf({ at: "last tool" }, stateWith(), blocksOf("static 10"))).toEqual([]);
  });

  test("volatile text in the system prompt by its label alone", () => {
    const [tool, system, ...rest] = blocksOf("tool 10", "static 10", "static 10", "user 10");
    const channel = { tier: "T5", label: "channel_meta" } as const;
    const moved = [tool, system, ...rest].flatMap((block, index) =>
      block === undefined ? [] : [index === 2 ? { ...block, ...channel } : block],
    );
    expect(placesOf({ at: "last stable system block" }, stateWith(), moved)).toEqual([1]);
    expect(placesOf({ at: "system block", label: "channel_meta" }, stateWith(), moved)).toEqual([
      2,
    ]);
    expect(placesOf({ at: "tail" }, stateWith(), moved)).toEqual([3]);
  });
});

test("candidates keep the order of the rules, and say what they are for", () => {
  const candidates = ruleCandidates(
    [
      { place: { at: "tail" }, lifetime: "5m" },
      { place: { at: "last tool" }, lifetime: "1h" },
      { place: { at: "latest user" }, lifetime: "5m" },
    ],
    blocks,
    stateWith(),
  );
  expect(candidates).toEqual([
    { block: 11, lifetime: "5m", slot: "tail", reason: "end of what will be sent again" },
    { block: 1, lifetime: "1h", slot: "head", reason: "end of the tools" },
    { block: 11, lifetime: "5m", slot: "rule", reason: "end of the latest user message" },
  ]);
});
