// Goal: `strata stats savings` says what optimising saved, and no more. Method: a client without markers, whose conversations cost
// exactly what they would without a cache, half of them held out; the simulator bills, the ledger is asked.
import { Anthropic } from "@anthropic-ai/sdk";
import { expect, test, vi } from "vitest";
import { plantedKey } from "../../harness/planted-key.ts";
import type { Answer } from "../../src/analytics/ask-ledger.ts";
import { familiesMin } from "../../src/analytics/arms/compare-arms.ts";
import type { SavingsFigures } from "../../src/analytics/savings.ts";
import { strata } from "../../src/cli/test-kit.ts";
import { claude, manual } from "../simulator-clients/serve.ts";
import { serveOptimized, stopClock } from "./optimize-kit.ts";

const startMs = Date.UTC(2026, 10, 16, 9);

test("half of the conversations are held out, and what the others saved is told with its confidence", async () => {
  stopClock();
  vi.setSystemTime(startMs);
  const served = await serveOptimized({
    isOptimizing: true,
    yaml: "gateway: { optimize: { share: 100, holdout: 50, wait_ms: 5000 } }",
  });
  const client = new Anthropic({ baseURL: served.url, apiKey: plantedKey, maxRetries: 0 });
  const ask = async (at: number, texts: readonly string[]): Promise<void> => {
    await client.messages.create({
      model: claude,
      max_tokens: 10,
      // No two conversations read what the other has written.
      tools: [{ name: "look", description: `${at} ${manual}`, input_schema: { type: "object" } }],
      messages: texts.map((content, place) => ({
        role: place % 2 === 0 ? "user" : "assistant",
        content: `${at} ${content}`,
      })),
    });
  };
  const countOf = (arm: string): number =>
    new Set(served.calls.flatMap((call) => (call.arm === arm ? [call.conversation.id] : []))).size;
  let conversations = 0;
  while (Math.min(countOf("strata"), countOf("holdout")) < familiesMin) {
    const batch = Array.from({ length: 12 }, (_, at) => conversations + at);
    conversations += batch.length;
    await Promise.all(batch.map((at) => ask(at, ["Look."])));
    await served.until(2 * conversations - batch.length);
    await Promise.all(batch.map((at) => ask(at, ["Look.", "I look.", "Go on."])));
    await served.until(2 * conversations);
  }
  await served.untilRecorded(2 * conversations);
  const words = ["savings", "--store", served.store, "--group-by", "none"];
  const range = ["--from", "2026-11-16", "--to", "2026-11-17"];
  const env = { STRATA_STORE: served.store };
  const { out } = await strata(env, "stats", ...words, ...range, "--json");
  const [row] = (JSON.parse(out) as Answer<SavingsFigures>).data;
  const arms = row?.arms;
  expect(arms).toMatchObject({ holdout_cost_share: 1, claim: "cheaper", reason: null });
  if (arms == null) throw new Error("there are two arms");
  expect(arms.strata_conversation_count + arms.holdout_conversation_count).toBe(conversations);
  // Each pays $0.0098885 and $0.0005688 in place of $0.007932 and $0.007976, give or take a digit in its texts.
  expect(arms.saved_share).toBeCloseTo(0.3426, 2);
  expect(arms.saved_share_low).toBeLessThanOrEqual(arms.saved_share ?? 0);
  expect(arms.saved_share_high).toBeGreaterThanOrEqual(arms.saved_share ?? 0);
  // Its own markers are none, so the account of them and the plain cost are the same, to the pico-dollar.
  const optimised = served.calls.filter(({ arm }) => arm === "strata");
  for (const { clientCostPicoUsd, plainCostPicoUsd } of optimised) {
    expect(clientCostPicoUsd).toBe(plainCostPicoUsd);
  }
  expect(Number(arms.saved_usd) / Number(arms.client_cost_usd)).toBeCloseTo(
    arms.saved_share ?? 0,
    4,
  );
  const table = await strata(env, "stats", ...words, ...range);
  expect(table.out).toMatch(/Note: \d+ optimised conversations at \d\d\.\d % .* less \(/);
});
