// Goal: the validation surface of M-40. Method: a session of many calls on the simulator, recorded, then asked about.
import { expect, test } from "vitest";
import { runSimulated, type SimulatedTurn } from "../../harness/simulated-session.ts";
import { cacheEffectiveness, type CacheFigures } from "../../src/analytics/cache-effectiveness.ts";
import { askLedger } from "../../src/analytics/ask-ledger.ts";
import { savings } from "../../src/analytics/savings.ts";
import { findPolicy } from "../../src/core/cache/policies.ts";
import type { Policy } from "../../src/core/cache/policy.ts";
import { builtInCatalogue } from "../../src/core/models/catalogue.ts";
import { resolveModel } from "../../src/core/models/resolve-model.ts";
import { cheapCounter } from "../../src/core/tokens/cheap-counter.ts";
import { toToolDefinition } from "../../src/core/message/tool-definition.ts";
import { anthropicMessages } from "../../src/core/wire/anthropic-messages/index.ts";
import { createLedger } from "../../src/edge/stores/ledger/create-ledger.ts";
import { openSqlite } from "../../src/edge/stores/sqlite/open-sqlite.ts";

const turnCount = 12;
const callCount = 2 * turnCount;

const turns: readonly SimulatedTurn[] = Array.from({ length: turnCount }, (_, index) => ({
  afterMs: 30_000,
  text: `Look at module ${index} and tell me what depends on it.`,
  replies: [
    { text: "Looking.", toolCalls: [{ name: "search", input: { path: `src/${index}.ts` } }] },
    { text: `Module ${index} is used by three files.` },
  ],
}));

const rules = Array.from(
  { length: 400 },
  (_, index) => `Rule ${index}: before you change module ${index}, read its tests and its callers.`,
).join("\n");

interface Asked {
  readonly cache: CacheFigures | undefined;
  readonly saved: string | undefined;
}

async function runAndAsk(policy: Policy): Promise<Asked> {
  const database = openSqlite({ file: ":memory:" });
  const ledger = await createLedger(database);
  const search = toToolDefinition({
    name: "search",
    description: "Finds what depends on a module.",
    inputSchema: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
  });
  const run = await runSimulated({
    setup: {
      model: resolveModel("claude-sonnet-4-6").facts,
      protocol: anthropicMessages,
      policy,
      context: { role: "unified", workspaceRules: rules, date: "2026-11-15" },
      tools: [{ definition: search, needs: [] }],
      counter: cheapCounter,
      options: { outputTokensMax: 4000, stream: true },
    },
    turns,
    toolResult: () => "a.ts, b.ts, c.ts",
    ledger,
  });
  expect(run.calls).toHaveLength(callCount);
  const nowMs = (run.calls.at(-1)?.endMs ?? 0) + 1000;
  const world = { nowMs, catalogue: builtInCatalogue };
  const { data } = await askLedger(database, cacheEffectiveness, {}, world);
  const saved = await askLedger(database, savings, {}, world);
  await ledger.close();
  return { cache: data[0], saved: saved.data[0]?.no_cache.saved_usd };
}

test("after a session of N calls hits are above zero, writes at most 2/N of the prompts, and hardly anything is written twice (M-40)", async () => {
  const { cache, saved } = await runAndAsk(findPolicy("adaptive"));
  expect(cache?.call_count).toBe(callCount);
  expect(cache?.hit_rate).toBeGreaterThan(0);
  expect(cache?.cache_write_share).toBeLessThanOrEqual(2 / callCount);
  expect(cache?.rewrite_factor).toBeLessThanOrEqual(1.05);
  expect(Number(saved)).toBeGreaterThan(0);
});

test("without its rolling tail metis writes at most 1/N of the prompts (M-40)", async () => {
  const metis = findPolicy("metis");
  const { markers } = metis;
  const kept =
    markers.kind === "rules" ? markers.rules.filter(({ place }) => place.at !== "tail") : [];
  const { cache } = await runAndAsk({ ...metis, markers: { kind: "rules", rules: kept } });
  expect(cache?.hit_rate).toBeGreaterThan(0);
  expect(cache?.cache_write_share).toBeLessThanOrEqual(1 / callCount);
  expect(cache?.rewrite_factor).toBeLessThanOrEqual(1.05);
});
