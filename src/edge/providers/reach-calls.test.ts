import { expect, test } from "vitest";
import { resolveModel } from "../../core/models/resolve-model.ts";
import type { Lifetime } from "../../core/message/usage.ts";
import { neededBetas } from "./reach-calls.ts";

const betas = { any: ["caching"], long: ["long"] };
const model = resolveModel("claude-sonnet-4-6").facts;

test.each<[string, readonly Lifetime[], Lifetime | null, readonly string[]]>([
  ["nothing is asked for without a marker", [], null, []],
  ["any marker asks for caching", ["5m", "5m"], null, ["caching"]],
  ["a marker for the whole request is one, too", [], "5m", ["caching"]],
  ["one of an hour asks for both", ["1h", "5m"], null, ["caching", "long"]],
])("%s (N-13)", (_name, lifetimes, requestMarker, expected) => {
  const markers = lifetimes.map((lifetime, block) => ({
    block,
    key: "k",
    lifetime,
    slot: "tail" as const,
    reason: "",
  }));
  expect(neededBetas({ markers, requestMarker }, model, betas)).toEqual(expected);
});
