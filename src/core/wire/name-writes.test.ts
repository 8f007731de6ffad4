import { expect, test } from "vitest";
import { resolveModel } from "../models/resolve-model.ts";
import { nameWrites } from "./name-writes.ts";
import { readChatUsage } from "./openai/chat/usage.ts";
import { planOf } from "./test-kit.ts";

const claude = resolveModel("openrouter/claude-sonnet-4-6").facts;
const gpt = resolveModel("gpt-6.1-sol").facts;

const reported = readChatUsage({
  prompt_tokens: 1000,
  completion_tokens: 5,
  prompt_tokens_details: { cached_tokens: 100, cache_write_tokens: 600 },
});

function writes(plan: ReturnType<typeof planOf>, model = claude): unknown {
  return nameWrites(reported, plan, model).usage.cacheWriteTokens;
}

test("writes without a lifetime take that of the plan (D-12)", () => {
  expect(reported.usage.cacheWriteTokens).toEqual({ "30m": 600 });
  expect(writes(planOf({ 1: "5m" }))).toEqual({ "5m": 600 });
  expect(writes(planOf({ 1: "1h" }))).toEqual({ "1h": 600 });
  expect(writes(planOf({}, { requestMarker: "1h" }))).toEqual({ "1h": 600 });
});

test("with two lifetimes the longer one gets what the plan expected of it, the shorter one the rest", () => {
  const plan = planOf({ 1: "1h", 3: "5m" });
  const expected = { ...plan.expected, writeTokens: { "1h": 450, "5m": 100 } };
  expect(writes({ ...plan, expected })).toEqual({ "1h": 450, "5m": 150 });
  expect(writes(plan)).toEqual({ "5m": 600 });
});

test("without a marker it is the model's shortest lifetime, and nothing is said twice", () => {
  expect(writes(planOf())).toEqual({ "5m": 600 });
  expect(writes(planOf(), gpt)).toEqual({ "30m": 600 });
  const named = nameWrites(reported, planOf(), claude);
  expect(nameWrites(named, planOf({ 1: "1h" }), claude)).toBe(named);
});
