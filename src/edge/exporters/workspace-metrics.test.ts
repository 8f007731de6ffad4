import { expect, test } from "vitest";
import { keptRoot, openTestMetrics } from "./test-kit.ts";

test("N-42: their counts are read with the metrics, and never go down", async () => {
  const kit = openTestMetrics();
  let roots = [keptRoot("/shop", 5)];
  const remove = kit.metrics.addWorkspaceCache({ metrics: () => roots });
  const hits = (): Promise<number | undefined> =>
    kit.valueOf("workspace_cache_hits_total", { path: "/shop" });
  expect(await hits()).toBe(5);
  expect(await hits()).toBe(5);
  roots = [keptRoot("/shop", 7)];
  expect(await hits()).toBe(7);
  // It was dropped and kept again.
  roots = [keptRoot("/shop", 2)];
  expect(await hits()).toBe(9);
  roots = [];
  expect(await hits()).toBe(9);
  roots = [keptRoot("/shop", 4)];
  expect(await hits()).toBe(13);
  expect(await kit.valueOf("workspace_cache_misses_total", { path: "/shop" })).toBe(3);
  expect(await kit.valueOf("workspace_cache_invalidations_total", { path: "/shop" })).toBe(0);
  roots = [keptRoot("/shop", 6)];
  remove();
  remove();
  roots = [keptRoot("/shop", 60)];
  expect(await hits()).toBe(15);
});

test("two caches on one path are summed, and paths are bounded", async () => {
  const kit = openTestMetrics({ valuesMax: { path: 1 } });
  kit.metrics.addWorkspaceCache({ metrics: () => [keptRoot("/shop", 5)] });
  kit.metrics.addWorkspaceCache({ metrics: () => [keptRoot("/shop", 3), keptRoot("/yard", 2)] });
  expect(await kit.valueOf("workspace_cache_hits_total", { path: "/shop" })).toBe(8);
  expect(await kit.valueOf("workspace_cache_hits_total", { path: "other" })).toBe(2);
});
