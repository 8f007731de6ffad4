import { describe, expect, test } from "vitest";
import { entriesByBlock } from "./expect-bill.ts";
import { findHit, lastEndings, type Hit } from "./find-hit.ts";
import { bedrock, blocksOf, entryAt, gpt, nowMs, olderGpt, sonnet } from "./test-kit.ts";
import type { KnownEntry } from "./cache-state.ts";
import type { ModelFacts } from "../models/model-facts.ts";

interface Look {
  readonly model?: ModelFacts;
  readonly shorts: readonly string[];
  readonly markers?: readonly number[];
  readonly entries: readonly KnownEntry[];
  readonly mode?: "implicit" | "explicit";
}

function look({
  model = sonnet,
  shorts,
  markers = [],
  entries,
  mode = "implicit",
}: Look): Hit | null {
  return findHit(
    { blocks: blocksOf(...shorts), entries: entriesByBlock(entries), nowMs },
    markers.map((block) => ({ block, lifetime: model.cache.lifetimes[0]?.lifetime ?? "5m" })),
    { rules: model.cache, mode },
  );
}

describe("looking back over positions", () => {
  const shorts = ["said 100 x40"];
  const entries = [entryAt(14, "5m")];

  test("an entry at position 15 is missed by one from position 35, and found from 34", () => {
    expect(look({ shorts, entries, markers: [34] })).toBeNull();
    expect(look({ shorts, entries, markers: [33] })).toEqual({
      block: 14,
      entries,
      positionsBack: 19,
    });
  });

  test("a second marker at position 15 finds it", () => {
    expect(look({ shorts, entries, markers: [14, 34] })).toMatchObject({
      block: 14,
      positionsBack: 0,
    });
  });

  test("the latest marker that finds anything wins, and the nearest entry before it", () => {
    const more = [entryAt(3, "1h"), entryAt(20, "5m"), entryAt(25, "5m")];
    expect(look({ shorts, entries: more, markers: [3, 30] })?.block).toBe(25);
    expect(look({ shorts, entries: more, markers: [3, 22] })?.block).toBe(20);
  });

  test("an entry after every marker is not seen, and without markers nothing is", () => {
    expect(look({ shorts, entries, markers: [13] })).toBeNull();
    expect(look({ shorts, entries })).toBeNull();
  });

  test("a run of tool uses, and one of tool results, is one position where the provider counts so", () => {
    const loop = ["user 10", "use 10 x12", "result 10 x12", "user 10"];
    const first = [entryAt(0, "5m")];
    expect(look({ shorts: loop, entries: first, markers: [25] })).toMatchObject({
      positionsBack: 3,
    });
    expect(look({ model: bedrock, shorts: loop, entries: first, markers: [25] })).toBeNull();
  });

  test("an entry inside a run is found without leaving the run's position", () => {
    const loop = ["user 10", "use 10 x12", "result 10 x30"];
    expect(look({ shorts: loop, entries: [entryAt(15, "5m")], markers: [42] })).toMatchObject({
      block: 15,
      positionsBack: 0,
    });
  });

  test("an entry that expired, or of another prefix, is not there", () => {
    const entry = entryAt(5, "5m");
    const gone = entryAt(5, "5m", 300_001);
    expect(look({ shorts, entries: [gone], markers: [6] })).toBeNull();
    expect(look({ shorts, entries: [{ ...entry, key: "other" }], markers: [6] })).toBeNull();
    expect(
      look({ shorts, entries: [gone, entryAt(5, "1h", 300_001)], markers: [6] })?.entries,
    ).toEqual([entryAt(5, "1h", 300_001)]);
  });
});

const at = (block: number): readonly KnownEntry[] => [entryAt(block, "30m", 60_000, gpt.cache)];

describe("looking at boundaries", () => {
  const shorts = ["static 2000", "user 100 x25"];
  test("the latest message and twenty before it are looked at, and the system text before them all", () => {
    expect(look({ model: gpt, shorts, entries: at(5) })?.block).toBe(5);
    expect(look({ model: gpt, shorts, entries: at(4) })).toBeNull();
    expect(look({ model: gpt, shorts, entries: at(0) })?.block).toBe(0);
  });

  test("a marker is looked at wherever it stands", () => {
    expect(look({ model: gpt, shorts, entries: at(4), markers: [4] })?.block).toBe(4);
    expect(
      look({ model: gpt, shorts, entries: at(4), markers: [4], mode: "explicit" })?.block,
    ).toBe(4);
  });

  test("in explicit mode nothing but markers is", () => {
    expect(look({ model: gpt, shorts, entries: at(25), mode: "explicit" })).toBeNull();
  });

  test("a prefix ends with a message of the user, or with the last of results that come together", () => {
    const blocks = blocksOf(
      "static 10",
      "part 10",
      "user 10",
      "use 10 x2",
      "result 10 x2",
      "assistant 10",
    );
    expect(lastEndings(blocks, 9)).toEqual([6, 2]);
    expect(lastEndings(blocks, 1)).toEqual([6]);
    expect(lastEndings(blocksOf("tool 10", "static 10", "assistant 10"), 3)).toEqual([1]);
    expect(lastEndings(blocksOf("tool 10", "assistant 10"), 3)).toEqual([]);
  });
});

test("where whatever was sent is kept, the longest prefix is found without markers", () => {
  const shorts = ["static 2000", "user 100", "assistant 100", "user 100"];
  const entries = [entryAt(1, "24h", 0, olderGpt.cache), entryAt(2, "24h", 0, olderGpt.cache)];
  const other = { ...entryAt(3, "24h", 0, olderGpt.cache), key: "other" };
  expect(look({ model: olderGpt, shorts, entries: [...entries, other] })?.block).toBe(2);
});
