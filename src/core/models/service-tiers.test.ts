import { expect, test } from "vitest";
import { resolveModel } from "./resolve-model.ts";
import { onServiceTier } from "./service-tiers.ts";

test.each([
  ["gpt-6.1-sol", undefined, 100n],
  ["gpt-6.1-sol", "flex", 50n],
  ["gpt-6.1-sol", "batch", 50n],
  // What it costs is in none of our sources.
  ["gpt-6.1-sol", "priority", null],
  ["claude-opus-5", "fast", 200n],
  ["claude-opus-5", "batch", 50n],
  ["claude-opus-5", "batch, fast", null],
  ["claude-sonnet-4-6", "fast", null],
  // Nothing is known of its services, so its words change nothing.
  ["gemini-3.8-flash", "any", 100n],
])("%s on the service tier %s", (id, tier, expected) => {
  const { facts } = resolveModel(id);
  expect(onServiceTier(100n, facts, tier)).toBe(expected);
  expect(onServiceTier(null, facts, tier)).toBeNull();
});
