import { describe, expect, test } from "vitest";
import { growingBytes } from "../growing/growing-bytes.ts";
import { emptyPrefixKey, extendPrefixKey, hashContent } from "../hash.ts";
import { sealBlocks, type SealingOptions } from "./sealed-block.ts";
import type { SpelledBlock } from "./spelling.ts";

const options: SealingOptions = {
  region: "messages",
  tierOf: (index) => (index === 0 ? "T3" : "T4"),
  tokensOf: ({ json }) => json.length,
};
const start = { key: emptyPrefixKey, tokens: 100 };

function spelled(json: string, markerFromEnd: number | null = 1): SpelledBlock {
  return { json, markerFromEnd, kind: "text", role: "user", endsMessage: true, content: [] };
}

const keyOf = (...texts: readonly string[]): string =>
  sealBlocks(
    texts.map((text) => spelled(text)),
    start,
    options,
  ).end.key;

describe("sealing blocks", () => {
  test("chains each key to the one before it and the first to what is there", () => {
    const { blocks, end } = sealBlocks([spelled("one"), spelled(",two")], start, options);
    const first = extendPrefixKey(emptyPrefixKey, hashContent("one"));
    const second = extendPrefixKey(first, hashContent(",two"));
    expect(blocks.map(({ key }) => key)).toEqual([first, second]);
    expect(end).toEqual({ key: second, tokens: 107 });
  });

  test("gives the same key only where every block before is the same", () => {
    expect(keyOf("a", "b")).toBe(keyOf("a", "b"));
    expect(new Set([keyOf("a", "b"), keyOf("b", "a"), keyOf("ab"), keyOf("a", "b", "")]).size).toBe(
      4,
    );
  });

  test("sums tokens from where the prompt stood, and takes tier, region and label as told", () => {
    const { blocks } = sealBlocks([spelled("one"), spelled(",two")], start, {
      ...options,
      labelOf: (index) => `label ${index}`,
    });
    expect(blocks).toMatchObject([
      { tokens: 3, endTokens: 103, tier: "T3", region: "messages", label: "label 0" },
      { tokens: 4, endTokens: 107, tier: "T4", region: "messages", label: "label 1" },
    ]);
  });

  test("counts the marker's place in bytes from the start of its region", () => {
    const before = growingBytes("[é");
    const { blocks, bytes } = sealBlocks(
      [spelled('{"日"}'), spelled(',{"a"}', null), spelled(',{"b"}]}', 3)],
      start,
      options,
      before,
    );
    expect(bytes.length).toBe(3 + 7 + 6 + 8);
    expect(blocks.map(({ markerAt }) => markerAt)).toEqual([9, null, 21]);
    expect(blocks.map(({ mayCarryMarker }) => mayCarryMarker)).toEqual([true, false, true]);
  });

  test("writes a lone surrogate as its escape, in the bytes and in the key alike", () => {
    const { blocks, bytes } = sealBlocks([spelled('"\ud800"')], start, options);
    expect(new TextDecoder().decode(bytes.slice(0, bytes.length))).toBe('"\\ud800"');
    expect(blocks[0]?.key).toBe(extendPrefixKey(emptyPrefixKey, hashContent('"\\ud800"')));
  });

  test("of nothing ends where it started", () => {
    const { blocks, bytes, end } = sealBlocks([], start, options);
    expect([blocks, bytes.length, end]).toEqual([[], 0, start]);
  });
});
