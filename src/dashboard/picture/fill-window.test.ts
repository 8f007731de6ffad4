import { expect, test } from "vitest";
import { fillWindow } from "./fill-window.ts";
import type { Layer } from "./find-layers.ts";

function layer(strand: number, tier: Layer["tier"], section: string, tokens: number): Layer {
  return { strand, since: 1, tier, section, from: 0, to: 3, bottom: 0, top: tokens };
}

test("pieces of one kind are one part of the window, tools and system text first", () => {
  const layers = [
    layer(1, "T3", "result of Bash in user message 4", 900),
    layer(2, "T3", "result of Bash in user message 8", 300),
    layer(3, "T3", "assistant message 3", 40),
    layer(4, "T1", "static system", 500),
    layer(5, "T0", "tools", 200),
    { ...layer(6, "T3", "user message 2", 5000), to: 2 },
  ];
  expect(fillWindow({ layers }, 2)).toEqual([
    { name: "tools", tier: "T0", tokens: 200, pieceCount: 1 },
    { name: "static system", tier: "T1", tokens: 500, pieceCount: 1 },
    { name: "result of Bash", tier: "T3", tokens: 1200, pieceCount: 2 },
    { name: "assistant message", tier: "T3", tokens: 40, pieceCount: 1 },
  ]);
});
