import { describe, expect, test } from "vitest";
import { emptyPrefixKey } from "../hash.ts";
import { haiku, tool } from "../wire/anthropic-messages/test-kit.ts";
import { toSpelling } from "../wire/anthropic-messages/spelling.ts";
import type { GrowingBytes } from "../growing/growing-bytes.ts";
import { buildFoundation, type Foundation, type FoundationParts } from "./foundation.ts";

const parts: FoundationParts = {
  tools: [tool("Read"), tool("Edit")],
  system: [
    { label: "static", tier: "T1", text: "Rules." },
    { label: "session", tier: "T2", text: "Today." },
  ],
  spelling: toSpelling(haiku),
  counter: { text: (words) => words.length, message: () => 0 },
  model: { toolPromptTokens: { auto: 496, forced: 588 } },
};

function textOf(bytes: GrowingBytes): string {
  return new TextDecoder().decode(bytes.slice(0, bytes.length));
}

describe("a foundation", () => {
  test("holds tools and system text as they are sent, each in its own bytes", () => {
    const { toolBytes, systemBytes } = buildFoundation(parts);
    expect(textOf(toolBytes)).toBe(
      '{"name":"Read","description":"Does it.","input_schema":{"type":"object"}}' +
        ',{"name":"Edit","description":"Does it.","input_schema":{"type":"object"}}',
    );
    expect(textOf(systemBytes)).toBe(
      '{"type":"text","text":"Rules."},{"type":"text","text":"Today."}',
    );
  });

  test("counts the provider's own tool prompt once, with the first tool", () => {
    const { blocks, end } = buildFoundation(parts);
    expect(blocks.map(({ tier, tokens, endTokens }) => [tier, tokens, endTokens])).toEqual([
      ["T0", 569, 569],
      ["T0", 73, 642],
      ["T1", 6, 648],
      ["T2", 6, 654],
    ]);
    expect(end.tokens).toBe(654);
  });

  test("names its blocks: a system block by its label, a tool by none", () => {
    expect(buildFoundation(parts).blocks.map(({ label, region }) => [label, region])).toEqual([
      [undefined, "tools"],
      [undefined, "tools"],
      ["static", "system"],
      ["session", "system"],
    ]);
  });

  test("has the key of its last block, which changes with any tool and any text", () => {
    const { key, blocks, end } = buildFoundation(parts);
    expect([blocks.at(-1)?.key, end.key]).toEqual([key, key]);
    expect(buildFoundation(parts).key).toBe(key);
    const others: Foundation[] = [
      buildFoundation({ ...parts, tools: parts.tools.toReversed() }),
      buildFoundation({ ...parts, tools: [] }),
      buildFoundation({ ...parts, system: parts.system.slice(0, 1) }),
      buildFoundation({ ...parts, system: parts.system.toReversed() }),
    ];
    expect(new Set([key, ...others.map((other) => other.key)]).size).toBe(5);
  });

  test("of nothing has no blocks, no tokens and the empty key", () => {
    const { blocks, end, toolBytes, systemBytes } = buildFoundation({
      ...parts,
      tools: [],
      system: [],
    });
    expect([blocks, end, toolBytes.length, systemBytes.length]).toEqual([
      [],
      { key: emptyPrefixKey, tokens: 0 },
      0,
      0,
    ]);
  });
});
