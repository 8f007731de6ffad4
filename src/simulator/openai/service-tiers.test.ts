// Goal: what a service tier costs. Method: the same request in two tiers, dollars on the simulator's record.
import { expect, test } from "vitest";
import { createKit, sendResponses, user, words } from "./test-kit.ts";

test("flex costs half", () => {
  const costs = ["default", "flex"].map((tier) => {
    const kit = createKit();
    sendResponses(kit, [user(words("a", 1500))], { service_tier: tier });
    return Number(kit.records[0]?.costUsd?.replace("$", ""));
  });
  expect(costs[0]).toBeGreaterThan(0);
  expect(costs[1]).toBeCloseTo((costs[0] ?? 0) / 2, 12);
});

test("what priority costs is not in our facts, so it is not claimed", () => {
  const kit = createKit();
  sendResponses(kit, [user("Hi")], { service_tier: "priority" });
  expect(kit.records[0]?.costUsd).toBeNull();
});
