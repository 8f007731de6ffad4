// Goal: a budget holds, to the pico-dollar for what has ended, across restarts and nodes. Method: the simulator's bills, through
// gateways that share a ledger.
import { describe, expect, onTestFinished, test } from "vitest";
import { startPostgres } from "../../harness/postgres.ts";
import { formatUsd } from "../../src/core/models/pico-usd.ts";
import { openLedger } from "../../src/edge/stores/open-ledger.ts";
import { openUpstream } from "./kit.ts";
import {
  ana,
  ask,
  ben,
  serveKeyed,
  untilCalls,
  untilRecorded,
  type KeyedServe,
} from "./keys-kit.ts";

function withBudget(budget: string): string {
  return `{ keys: { ana: { key_env: ANA, budget: { ${budget} } }, ben: { key_env: BEN } } }`;
}

/** What a key has spent, as it is told itself. */
async function spentBy({ url }: KeyedServe, key: string): Promise<unknown> {
  const health = await fetch(`${url}/strata/health`, { headers: { "x-api-key": key } });
  const { key: own } = (await health.json()) as { readonly key: { readonly spent: unknown } };
  return own.spent;
}

function costOf({ calls }: KeyedServe): bigint {
  return calls.reduce((sum, { costPicoUsd }) => sum + (costPicoUsd ?? 0n), 0n);
}

const long = { messages: [{ role: "user", content: "Why is this so? ".repeat(4000) }] };

test("a call that might pass it is refused until the day ends, and the words say how much is left", async () => {
  const gateway = await serveKeyed({ gateway: withBudget("day_usd: 0.08, month_usd: 1") });
  expect(await ask(gateway.url, ana, long)).toMatchObject({ status: 200 });
  await untilCalls(gateway, 1);
  const cost = costOf(gateway);
  expect(cost).toBeGreaterThan(30_000_000_000n);
  await expect
    .poll(() => spentBy(gateway, ana))
    .toEqual({ day: formatUsd(cost), month: formatUsd(cost) });
  const next = await ask(gateway.url, ana, long);
  expect(next).toMatchObject({ status: 429, code: "budget_spent" });
  expect(next.body).toMatch(/ana has \$0\.0\d+ left of \$0\.08 for the day until 20\S+T00:00Z/);
  expect(Number(next.retryAfter)).toBeGreaterThan(0);
  expect(Number(next.retryAfter)).toBeLessThanOrEqual(86_400);
  expect(await ask(gateway.url, ana)).toMatchObject({ status: 200 });
  expect(await ask(gateway.url, ben, long)).toMatchObject({ status: 200 });
});

test("what an open call may cost is reserved, and given back when it costs less", async () => {
  const [begun, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const usage = { input_tokens: 10, output_tokens: 1 };
  const reply = {
    type: "message",
    role: "assistant",
    model: "claude-sonnet-4-5",
    content: [],
    usage,
  };
  const url = await openUpstream(async (incoming, outgoing) => {
    incoming.resume();
    begun.resolve();
    await end.promise;
    outgoing.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(reply));
  });
  // 2000 tokens of output cost $0.03.
  const gateway = await serveKeyed({ gateway: withBudget("total_usd: 0.04"), upstream: url });
  const first = ask(gateway.url, ana, { max_tokens: 2000 });
  await begun.promise;
  const second = await ask(gateway.url, ana, { max_tokens: 2000 });
  expect(second).toMatchObject({ status: 429, code: "budget_spent", retryAfter: null });
  end.resolve();
  expect(await first).toMatchObject({ status: 200 });
  await untilCalls(gateway, 1);
  expect(await ask(gateway.url, ana, { max_tokens: 2000 })).toMatchObject({ status: 200 });
});

test("it is counted on after a restart, exactly, without the calls of others", async () => {
  const setting = { gateway: withBudget("total_usd: 0.13") };
  const before = await serveKeyed(setting);
  for (const key of [ana, ben])
    expect(await ask(before.url, key, long)).toMatchObject({ status: 200 });
  await untilRecorded(before, 2);
  const cost = before.calls.find(({ gatewayKey }) => gatewayKey === "ana")?.costPicoUsd ?? 0n;
  const after = await serveKeyed({ ...setting, folder: before.folder });
  expect(await spentBy(after, ana)).toEqual({ total: formatUsd(cost) });
  expect(await ask(after.url, ana, long)).toMatchObject({ status: 200 });
  await untilRecorded(after, 1);
  expect(await ask(after.url, ana, long)).toMatchObject({ status: 429, code: "budget_spent" });
  const ledger = await openLedger(`${before.folder}/ledger.db`);
  const [sums] = await ledger.sumKeySpending({ dayMs: 0, monthMs: 0 });
  await ledger.close();
  expect(sums).toMatchObject({ gatewayKey: "ana", totalPicoUsd: cost + costOf(after) });
});

const stores = {
  SQLite: () => Promise.resolve({}),
  PostgreSQL: async () => {
    const server = await startPostgres({ fsync: false });
    onTestFinished(() => server.stop());
    return { store: await server.createDatabase() };
  },
};

test.each(Object.entries(stores))(
  "what another gateway of the same ledger let pass is known within some seconds, on %s",
  async (_name, open) => {
    const setting = { gateway: withBudget("day_usd: 0.05"), ...(await open()) };
    const one = await serveKeyed(setting);
    const other = await serveKeyed({ ...setting, folder: one.folder });
    expect(await ask(one.url, ana, long)).toMatchObject({ status: 200 });
    await untilRecorded(one, 1);
    await expect
      .poll(() => spentBy(other, ana), { timeout: 5000 })
      .toEqual({ day: formatUsd(costOf(one)) });
    expect(await ask(other.url, ana, long)).toMatchObject({ status: 429, code: "budget_spent" });
  },
);

describe("what cannot be counted is not let pass", () => {
  test("a model without a known price", async () => {
    const gateway = await serveKeyed({ gateway: withBudget("day_usd: 5") });
    const sent = await ask(gateway.url, ana, { model: "house-model" });
    expect(sent).toMatchObject({ status: 403, code: "not_allowed" });
    expect(sent.body).toContain("without a known price");
  });

  test("an answer that its client breaks off before it says what it cost is spent as reserved", async () => {
    const url = await openUpstream((incoming, outgoing) => {
      incoming.resume();
      outgoing.writeHead(200, { "content-type": "text/event-stream" });
      outgoing.write(": nothing yet\n\n");
    });
    const gateway = await serveKeyed({ gateway: withBudget("total_usd: 0.04"), upstream: url });
    const leaving = new AbortController();
    const response = await fetch(`${gateway.url}/v1/messages`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-api-key": ana },
      body: JSON.stringify({
        model: "claude-sonnet-4-5",
        max_tokens: 2000,
        stream: true,
        messages: [],
      }),
      signal: leaving.signal,
    });
    expect(response.status).toBe(200);
    leaving.abort();
    await untilCalls(gateway, 1);
    expect(gateway.calls[0]).toMatchObject({ costPicoUsd: null });
    expect(await spentBy(gateway, ana)).toEqual({ total: expect.stringMatching(/^\$0\.0300\d*$/) });
    expect(await ask(gateway.url, ana, { max_tokens: 2000 })).toMatchObject({ status: 429 });
  });

  test("what the provider refused costs nothing", async () => {
    const gateway = await serveKeyed({ gateway: withBudget("total_usd: 0.04") });
    for (const _ of [1, 2, 3]) {
      expect(await ask(gateway.url, ana, { max_tokens: 2000, messages: "no list" })).toMatchObject({
        status: 400,
        code: null,
      });
    }
    expect(await spentBy(gateway, ana)).toEqual({ total: "$0" });
  });
});
