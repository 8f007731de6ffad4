// Goal: what policies would have cost stands beside what the same calls did cost. Method: calls with known accounts, some that compare with nothing.
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeExample } from "../../src/cli/test-kit.ts";
import { inLedger } from "../gateway-record/kit.ts";
import { gatewayCall } from "../ledger/gateway-kit.ts";
import { newFolder, openTestApi } from "./kit.ts";

const november = "from=2026-11-01&to=2026-11-18";
const cents = (count: bigint): bigint => count * 10_000_000_000n;

test("each policy is summed over the calls that it has an account of, beside what those cost", async () => {
  const store = join(newFolder(), "ledger.db");
  await makeExample(store);
  await inLedger(store, async (ledger) => {
    await ledger.recordCalls([
      gatewayCall("talk", 1, {
        costPicoUsd: cents(10n),
        otherPolicies: [
          { policy: "tail-5m", costPicoUsd: cents(8n) },
          { policy: "none", costPicoUsd: cents(30n) },
        ],
      }),
      gatewayCall("talk", 2, {
        costPicoUsd: cents(5n),
        policy: "adaptive",
        arm: "strata",
        clientCostPicoUsd: cents(6n),
        otherPolicies: [{ policy: "none", costPicoUsd: cents(20n) }],
      }),
      gatewayCall("side", 1, { costPicoUsd: cents(1n) }),
      gatewayCall("side", 2, { costPicoUsd: null, usage: null }),
    ]);
  });
  const api = await openTestApi(store);
  expect((await api.get(`/policies?${november}`)).body).toMatchObject({
    window: { start: "2026-11-01T00:00:00.000Z" },
    data: [
      ["tail-5m", 1, "0.080000", "0.100000", "-0.020000"],
      ["client", 1, "0.060000", "0.050000", "0.010000"],
      ["none", 2, "0.500000", "0.150000", "0.350000"],
    ].map(([policy, count, cost, paid, saved]) => ({
      policy,
      call_count: count,
      cost_usd: cost,
      paid_usd: paid,
      saved_usd: saved,
    })),
    call_count: 4,
    paid_usd: "0.160000",
    uncompared_call_count: 2,
    uncompared_usd: "0.010000",
    left_out_count: 0,
    notes: [
      expect.any(String),
      expect.stringContaining("one marker at the end"),
      expect.any(String),
    ],
  });
  expect((await api.get(`/policies?${november}&session=side`)).body).toMatchObject({
    data: [],
    call_count: 2,
  });
  expect((await api.get(`/policies?${november}&agent=nobody&model=claude-x`)).body).toMatchObject({
    call_count: 0,
    paid_usd: "0.000000",
  });
});

test("parts of a long time add up to the whole", async () => {
  const store = join(newFolder(), "ledger.db");
  await makeExample(store);
  const none = { policy: "none", costPicoUsd: cents(2n) } as const;
  await inLedger(store, async (ledger) => {
    await ledger.recordCalls(
      Array.from({ length: 2100 }, (_, index) =>
        // Many at the same time.
        gatewayCall(`talk-${index % 50}`, 1 + Math.floor(index / 50), {
          costPicoUsd: cents(1n),
          otherPolicies: [none],
        }),
      ),
    );
  });
  const api = await openTestApi(store);
  expect((await api.get(`/policies?${november}`)).body).toMatchObject({
    data: [{ policy: "none", call_count: 2100, cost_usd: "42.000000", paid_usd: "21.000000" }],
    call_count: 2100,
  });
});
