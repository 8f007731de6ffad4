import { expect, test } from "vitest";
import { openTestMetrics, sessionId } from "./test-kit.ts";

test("what keeps a cache warm is counted by purpose and outcome, apart from calls", async () => {
  const kit = openTestMetrics();
  const payload = {
    model: "claude-sonnet-4-6",
    provider: "anthropic",
    purpose: "keep_warm",
    outcome: "refreshed",
    input_tokens: 30,
    cached_input_tokens: 6000,
    cache_creation_input_tokens: 0,
    cost_usd: "0.00189",
    latency_ms: 800,
    warm_seconds: 300,
    error_message_redacted: null,
  } as const;
  kit.bus.emit({ sessionId, type: "cache.warmed", payload });
  const failed = { ...payload, outcome: "failed", cost_usd: null } as const;
  kit.bus.emit({ sessionId, type: "cache.warmed", payload: failed });
  const labels = { agent: "ana", purpose: "keep_warm" };
  const counted = (outcome: string): Promise<unknown> =>
    kit.valueOf("llm_cache_warm_calls_total", { ...labels, outcome });
  expect([await counted("refreshed"), await counted("failed")]).toEqual([1, 1]);
  expect(await kit.valueOf("llm_cache_warm_cost_usd_total", labels)).toBe(0.00189);
});
