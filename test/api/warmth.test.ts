// Goal: what is warm, until when, and what its loss costs. Method: bills of known lifetimes at known ages, asked over HTTP.
import { join } from "node:path";
import { expect, test } from "vitest";
import type { GatewayCall } from "../../src/core/ledger/gateway-call.ts";
import { makeExample } from "../../src/cli/test-kit.ts";
import { inLedger } from "../gateway-record/kit.ts";
import { gatewayCall } from "../ledger/gateway-kit.ts";
import { newFolder, openTestApi, type TestApi } from "./kit.ts";

type Written = NonNullable<GatewayCall["usage"]>["cacheWriteTokens"];

const sonnet = { model: "claude-sonnet-4-6", factsId: "claude-sonnet-4-6" } as const;

function call(
  conversation: string,
  number: number,
  minutesAgo: number,
  read: number,
  written: Written,
  more: Partial<GatewayCall> = {},
): GatewayCall {
  const startMs = Date.now() - minutesAgo * 60_000;
  return gatewayCall(conversation, number, {
    ...sonnet,
    startMs,
    firstByteMs: startMs,
    endMs: startMs + 1,
    usage: {
      uncachedTokens: 10,
      cacheReadTokens: read,
      cacheWriteTokens: written,
      outputTokens: 1,
      reasoningTokens: 0,
    },
    ...more,
  });
}

async function open(...calls: readonly GatewayCall[]): Promise<TestApi> {
  const store = join(newFolder(), "ledger.db");
  await makeExample(store);
  await inLedger(store, async (ledger) => {
    await ledger.recordCalls(calls);
  });
  return openTestApi(store);
}

interface Row {
  readonly session: string;
  readonly warm_until: string;
  readonly kept: readonly { readonly tokens: number; readonly lifetime: string | null }[];
}

async function rowsOf(api: TestApi, path = "/warmth"): Promise<readonly Row[]> {
  return ((await api.get(path)).body as { readonly data: readonly Row[] }).data;
}

/** Whole minutes from now. */
function minutesTo(moment: string | undefined): number {
  return Math.round((Date.parse(moment ?? "") - Date.now()) / 60_000);
}

test("a conversation is warm for the longest of its lifetimes since it was last used, and costs its rewrite when it is lost", async () => {
  const api = await open(
    call("talk", 1, 30, 0, { "1h": 20_000, "5m": 10_000 }),
    call("talk", 2, 2, 30_000, { "5m": 5000 }),
  );
  const [row] = await rowsOf(api);
  expect(row).toMatchObject({
    session: "talk",
    origin: "gateway",
    agent: "claude-code",
    model: "claude-sonnet-4-6",
    is_warm: true,
    prompt_tokens: 35_010,
    kept_tokens: 35_000,
    kept: [
      { tokens: 35_000, lifetime: "5m" },
      { tokens: 20_000, lifetime: "1h" },
    ],
    // 15,000 at $3.75 and 20,000 at $6 per million, instead of 35,000 at $0.30.
    cold_cost_usd: "0.165750",
  });
  expect(minutesTo(row?.warm_until)).toBe(58);
});

test("what was not read again is lost, and what outlived the rest still counts", async () => {
  const api = await open(
    call("rewritten", 1, 20, 0, { "5m": 9000 }),
    call("rewritten", 2, 1, 0, { "5m": 4000 }),
    call("half", 1, 10, 0, { "1h": 20_000, "5m": 10_000 }),
  );
  expect(await rowsOf(api)).toMatchObject([
    { session: "rewritten", kept_tokens: 4000, kept: [{ tokens: 4000 }] },
    { session: "half", is_warm: true, kept_tokens: 20_000, kept: [{}, { tokens: 20_000 }] },
  ]);
});

test("what went cold within the hour is there with its cost, and nothing older", async () => {
  const api = await open(
    call("fresh", 1, 1, 0, { "5m": 1_000_000 }),
    call("lost", 1, 40, 0, { "5m": 1_000_000 }),
    call("gone", 1, 70, 0, { "5m": 1_000_000 }),
    call("uncached", 1, 1, 0, {}),
  );
  expect(await rowsOf(api)).toMatchObject([
    { session: "fresh", is_warm: true },
    { session: "lost", is_warm: false, kept_tokens: 1_000_000, cold_cost_usd: "3.450000" },
  ]);
  const first = await api.get("/warmth?limit=1");
  expect(first.body).toMatchObject({ data: [{ session: "fresh" }], left_out_count: 1 });
});

test("a provider that keeps unasked is warm for the time that it promises, and an unknown model is told", async () => {
  const api = await open(
    call("deep", 1, 50, 0, {}, { model: "deepseek-flash", factsId: "deepseek-flash" }),
    call("moon", 1, 1, 0, {}, { model: "moon-1", factsId: null }),
  );
  const { body } = await api.get("/warmth");
  expect(body).toMatchObject({
    data: [{ session: "deep", is_warm: true, kept_tokens: 10, kept: [{ lifetime: null }] }],
    notes: [
      expect.any(String),
      "1 sessions are on models for which no one says how long they keep",
    ],
  });
  expect(minutesTo((await rowsOf(api))[0]?.warm_until)).toBe(10);
});
